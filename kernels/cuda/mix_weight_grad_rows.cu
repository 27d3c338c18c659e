// SPDX-License-Identifier: GPL-3.0-or-later
// mixWeightGrad for rows of whole 16-byte packs. Each block has a range of tokens and a subset of the sources, and
// keeps the sums over its tokens in registers. A group of threads has the rows of a few sources, one pack of columns
// per thread. The rows of the sources and the output gradients arrive in rings in shared memory by asynchronous copies.
//
// Blocks with the same tokens are neighbours in the grid and run at the same time, so they share the output gradients
// in the second-level cache. The depth of the rings depends on the device too, but does not change a result.
//
// The loop over tokens is a pipeline with one barrier per step. Step i computes the dot products of tile i of tokens
// per warp, adds those of tile i - 1 over the warps of a group to get the gate gradients q, and adds the terms q·x of
// tile i - 2 to gateVectorGrad.
#include "kernels/cuda/mix_weight_grad.cuh"

#include "kernels/cuda/mix_row_worker.cuh"

#include <algorithm>

namespace residua::kernels::cuda {
namespace {

constexpr int kMostThreads = 512; ///< of a block, and of the blocks that a multiprocessor should hold
constexpr int kMostResident = 8;  ///< blocks that a multiprocessor should hold

template <class T, int O, bool feature, Gate gate>
__global__ void __launch_bounds__(kMostThreads, 1) weightGradStreams(const __grid_constant__ RowArgs args)
{
    RowWorker<T, O, feature, gate> worker(args);
    worker.run();
    worker.write();
}

std::int64_t elementSize(DataType type)
{
    return type == DataType::bfloat16 ? 2 : 4;
}

Gate gateOf(GateKind kind)
{
    return isRelu(kind) ? Gate::relu : kind == GateKind::token ? Gate::token : Gate::none;
}

struct RowSplit : BlockSplit {
    int lanes;
    int slots;
    int groupThreads;
    int groups;
};

/// Sets the groups of a block for a number of subsets.
void arrange(RowSplit& split, int sources, int subsets)
{
    split.subsets = subsets;
    const int most = (sources + subsets - 1) / subsets;
    split.groups = (most + split.slots - 1) / split.slots;
    split.resident = std::min(kMostResident, kMostThreads / (split.groups * split.groupThreads));
}

int residentThreads(const RowSplit& split)
{
    return split.resident * split.groups * split.groupThreads;
}

RowSplit splitOf(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    const bool feature = stack.weightKind == WeightKind::perFeature;
    RowSplit split{};
    split.lanes = int(16 / elementSize(stack.dataType));
    split.slots = slotsOf(split.lanes, stack.outputs, feature, gateOf(stack.gateKind));
    split.groupThreads = (int(stack.width / split.lanes) + 31) / 32 * 32;
    const int most = kMostThreads / split.groupThreads * split.slots;
    const int fewest = (stack.sources + most - 1) / most;
    arrange(split, stack.sources, fewest);
    const int threads = residentThreads(split);
    if (threads < kMostThreads / 4 * 3) {
        // Smaller blocks fill a multiprocessor better sometimes.
        arrange(split, stack.sources, fewest + 1);
        if (residentThreads(split) <= threads)
            arrange(split, stack.sources, fewest);
    }
    splitTokens(split, mix);
    return split;
}

/// Sets the offsets in shared memory and returns its size.
std::size_t layOut(RowArgs& args, const RowSplit& split, const MixStack& stack)
{
    const Gate gate = gateOf(stack.gateKind);
    const std::int64_t row = stack.width * elementSize(stack.dataType) * args.tileTokens;
    const std::int64_t padded = paddedValues(split.slots * stack.outputs);
    const std::int64_t value = padded * std::int64_t(sizeof(float)) * args.tileTokens * split.groups;
    std::int64_t bytes = (args.ahead + (gate == Gate::relu ? 3 : 1)) * row * split.groups * split.slots;
    const auto take = [&](int& at, std::int64_t size) {
        at = int(bytes);
        bytes += size;
    };
    take(args.gradsAt, (args.ahead + 1) * row * stack.outputs);
    take(args.partsAt, 2 * value * (split.groupThreads / 32));
    if (gate == Gate::relu) {
        take(args.gatesAt, 2 * value);
        take(args.logitsAt, (args.ahead + 2) * value);
        take(args.rstdAt, args.rstd ? (args.ahead + 2) * value : 0);
    }
    return std::size_t(bytes);
}

/// Chooses the deepest rings that fit the device. Returns the bytes of shared memory, or 0 if none fit.
std::size_t chooseRings(RowArgs& args, const RowSplit& split, const MixStack& stack)
{
    struct Depth {
        int tileTokens, ahead;
    };
    constexpr Depth kDepths[] = {{4, 1}, {3, 1}, {2, 2}, {2, 1}, {1, 3}, {1, 2}, {1, 1}};
    const std::size_t most = mostShared();
    const std::size_t each = sharedOf(most, split.resident);
    const int values = paddedValues(split.slots * stack.outputs);
    for (const Depth& depth : kDepths) {
        if (depth.tileTokens * values > 32)
            continue;
        args.tileTokens = depth.tileTokens;
        args.ahead = depth.ahead;
        const std::size_t bytes = layOut(args, split, stack);
        if (bytes <= each || (depth.tileTokens + depth.ahead == 2 && bytes <= most))
            return bytes;
    }
    return 0;
}

template <class T, int O, bool feature>
Status launchGate(const RowArgs& args, const RowSplit& split, std::size_t shared, void* stream)
{
    const dim3 grid(unsigned(split.subsets), unsigned(split.ranges));
    const dim3 block(unsigned(split.groupThreads), unsigned(split.groups));
    switch (gateOf(args.stack.gateKind)) {
    case Gate::none:
        return launch(weightGradStreams<T, O, feature, Gate::none>, grid, block, shared, stream, args);
    case Gate::token:
        return launch(weightGradStreams<T, O, feature, Gate::token>, grid, block, shared, stream, args);
    default:
        return launch(weightGradStreams<T, O, feature, Gate::relu>, grid, block, shared, stream, args);
    }
}

template <class T>
Status launchRows(const RowArgs& args, const RowSplit& split, int outputs, std::size_t shared, void* stream)
{
    return withOutputs(outputs, [&](auto count) {
        constexpr int kOutputs = decltype(count)::kValue;
        return args.stack.weightKind == WeightKind::perFeature
                   ? launchGate<T, kOutputs, true>(args, split, shared, stream)
                   : launchGate<T, kOutputs, false>(args, split, shared, stream);
    });
}

bool takes(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    if (stack.dataType == DataType::float64)
        return false;
    const std::int64_t lanes = 16 / elementSize(stack.dataType);
    const bool masked = stack.weightKind == WeightKind::perFeature && stack.gateKind == GateKind::reluInside;
    return stack.width % lanes == 0 && stack.width / lanes <= kMostThreads && !masked;
}

std::size_t workspace(const MixWeightGrad& mix)
{
    return splitWorkspace(splitOf(mix));
}

bool fits(const MixWeightGrad& mix)
{
    const RowSplit split = splitOf(mix);
    RowArgs args{};
    setArgs(args, mix, split);
    return rowsAligned(mix) && chooseRings(args, split, mix.stack) > 0;
}

Status run(const MixWeightGrad& mix, void* stream)
{
    const MixStack& stack = mix.stack;
    const RowSplit split = splitOf(mix);
    RowArgs args{};
    setArgs(args, mix, split);
    const std::size_t shared = chooseRings(args, split, stack);
    const Status status = stack.dataType == DataType::bfloat16
                              ? launchRows<Bf16>(args, split, stack.outputs, shared, stream)
                              : launchRows<float>(args, split, stack.outputs, shared, stream);
    return sumBlocks(status, mix, args, split, stream);
}

} // namespace

const WeightGradForm kRowForm{takes, workspace, fits, run};

} // namespace residua::kernels::cuda
