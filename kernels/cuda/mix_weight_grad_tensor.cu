// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad for three bfloat16 outputs with per-feature weights and a relu outside of them: matrix products on the
// tensor cores compute the sums over columns and those over sources. With S the size of a source, the blocks read
// (t + 3·subsets)·S bytes. Blocks with the same tokens are neighbours in the grid and run at the same time, so they
// share the output gradients in the second-level cache, and (t + 3)·S bytes come from the device's memory.
//
// Each block has a range of tokens and a subset of the sources, and keeps its sums in registers. A warp has 128
// columns, whose rows arrive in rings of its own by asynchronous copies, so only dot products and gates cross warps. A
// step has two tokens and two barriers:
//   1. A few threads add the dot products over the warps and write the gate gradients q, each as the exact sum of three
//      bfloat16 numbers. All add g·x to the weights' gradients: four columns and all sources of the subset per thread.
//   2. Barrier.
//   3. The sums of q·x over the sources and both tokens, with x as the left factor, [columns, sources and tokens]. Then
//      the dot products of the next step, with x as the left factor, [sources and tokens, columns], and the output
//      gradients of both tokens as the right one. The products of two different tokens are not used.
//   4. Barrier.
// The order of the sums depends on the shape only. But the tensor cores of different generations of devices may round
// sums differently.
#include "kernels/cuda/mix_weight_grad.cuh"

#include "kernels/cuda/mix_tensor_worker.cuh"

#include <algorithm>

namespace residua::kernels::cuda {
namespace {

constexpr int kManySlots = 8;
constexpr int kFewSlots = 6;

/// Returns the threads of a block, and of the blocks that a multiprocessor should hold, at most. The registers of a
/// thread follow from it: 168 and 128.
constexpr int mostThreads(int slots)
{
    return slots == kManySlots ? 384 : 512;
}

template <int S>
__global__ void __launch_bounds__(mostThreads(S), 1) weightGradTensor(const __grid_constant__ TensorArgs args)
{
    TensorWorker<S> worker(args);
    worker.run();
    worker.write();
}

struct TensorSplit : BlockSplit {
    int slots; ///< sources of a block, at most
    int threads;
};

TensorSplit splitOf(const MixWeightGrad& mix)
{
    TensorSplit split{};
    split.threads = int(mix.stack.width / kWarpColumns) * 32;
    const auto resident = [&](int slots) { return mostThreads(slots) / split.threads; };
    const auto subsets = [&](int slots) { return (mix.stack.sources + slots - 1) / slots; };
    // Many slots need fewer loads of the output gradients, but may leave more slots or registers without use.
    const bool many = kManySlots * resident(kManySlots) >= kFewSlots * resident(kFewSlots) &&
                      subsets(kManySlots) < subsets(kFewSlots);
    split.slots = many ? kManySlots : kFewSlots;
    split.resident = resident(split.slots);
    split.subsets = subsets(split.slots);
    splitTokens(split, mix);
    return split;
}

/// Sets the depth of the rings to what fits the device. Returns the bytes of shared memory, or 0 if none fits.
std::size_t chooseRings(TensorArgs& args, const TensorSplit& split)
{
    const std::size_t most = mostShared();
    const int warps = split.threads / 32;
    for (const int places : {3, 2}) {
        args.rowPlaces = places;
        const int pairs = places * split.slots + kGradPlaces * kOutputs;
        const std::size_t bytes = std::size_t(warps) * (pairs * kPair * sizeof(Bf16) + kDots * sizeof(float)) +
                                  kGateParts * kGatePart * sizeof(Bf16);
        if (bytes <= (places == 2 ? most : sharedOf(most, split.resident)))
            return bytes;
    }
    return 0;
}

bool takes(const MixWeightGrad& mix)
{
    constexpr int kFewestSources = 4; // With fewer, most slots of a block would be empty.
    const MixStack& stack = mix.stack;
    return tensorFormsAreOn() && stack.dataType == DataType::bfloat16 && stack.outputs == kOutputs &&
           stack.sources >= kFewestSources && stack.weightKind == WeightKind::perFeature &&
           stack.gateKind == GateKind::reluOutside && stack.width % kWarpColumns == 0 &&
           stack.width / kWarpColumns >= 2 && stack.width / kWarpColumns * 32 <= mostThreads(kFewSlots);
}

std::size_t workspace(const MixWeightGrad& mix)
{
    return splitWorkspace(splitOf(mix));
}

bool fits(const MixWeightGrad& mix)
{
    const TensorSplit split = splitOf(mix);
    TensorArgs args{};
    // The rows of a range are indexed with 32 bits.
    return rowsAligned(mix) && split.rangeTokens * mix.stack.width <= INT32_MAX && chooseRings(args, split) > 0;
}

Status run(const MixWeightGrad& mix, void* stream)
{
    const TensorSplit split = splitOf(mix);
    TensorArgs args{};
    setArgs(args, mix, split);
    const std::size_t shared = chooseRings(args, split);
    const dim3 grid(unsigned(split.subsets), unsigned(split.ranges));
    const Status status = launch(split.slots == kManySlots ? weightGradTensor<kManySlots> : weightGradTensor<kFewSlots>,
                                 grid, dim3(unsigned(split.threads)), shared, stream, args);
    return sumBlocks(status, mix, args, split, stream);
}

} // namespace

const WeightGradForm kTensorForm{takes, workspace, fits, run};

} // namespace residua::kernels::cuda
