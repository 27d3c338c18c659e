// SPDX-License-Identifier: GPL-3.0-or-later
// The split of mixWeightGrad into blocks, for the forms whose blocks keep their sums in registers. Each block has a
// range of tokens and a subset of the sources. A second kernel adds the partial sums of the ranges in order, without
// atomics, so the bits are always the same. The split depends on the shape and the requested results only.
#pragma once

#include "kernels/cuda/mix_args.cuh"
#include "kernels/cuda/partial_sums.cuh"

#include <algorithm>
#include <cstdint>

namespace residua::kernels::cuda {

struct BlockSplit {
    int resident; ///< blocks per multiprocessor
    int subsets;
    std::int64_t rangeTokens;
    std::int64_t ranges;
    std::int64_t weightStride;
    std::int64_t vectorElements;
};

/// The kernel's arguments in every form.
struct SplitArgs {
    StackArgs stack;
    const void* outGrad[kMaxOutputs];
    const float* gateLogits;
    const float* rstd;    ///< null unless the gate's input is normalised
    float* tokenGrad;     ///< null: not wanted
    float* weightPartial; ///< [ranges, weightStride], null: not wanted
    float* vectorPartial; ///< [ranges, subsets, O, d], null: not wanted
    std::int64_t weightStride;
    std::int64_t rangeTokens;
};

/// Returns the number of elements of weightGrad.
inline std::int64_t weightElements(const MixStack& stack)
{
    const std::int64_t rows = std::int64_t(stack.outputs) * stack.sources;
    return stack.weightKind == WeightKind::perFeature ? rows * stack.width : rows;
}

/// Sets all but `resident` and `subsets`.
inline void splitTokens(BlockSplit& split, const MixWeightGrad& mix)
{
    // An H100 or H200 has 132. The number of blocks is chosen for them, and is the same for other devices.
    constexpr int kMultiprocessors = 132;
    // Fewer tokens per range would cost more for the partial sums than more blocks save.
    constexpr std::int64_t kFewTokens = 8;
    const std::int64_t wanted = std::max(1, kMultiprocessors * split.resident / split.subsets);
    const std::int64_t ranges = std::clamp<std::int64_t>(mix.stack.tokens / kFewTokens, 1, wanted);
    split.rangeTokens = (mix.stack.tokens + ranges - 1) / ranges;
    split.ranges = split.rangeTokens ? (mix.stack.tokens + split.rangeTokens - 1) / split.rangeTokens : 0;
    split.weightStride = mix.weightGrad ? (weightElements(mix.stack) + 3) / 4 * 4 : 0;
    split.vectorElements = mix.gateVectorGrad ? mix.stack.outputs * mix.stack.width : 0;
}

/// Returns the bytes of workspace.
inline std::size_t splitWorkspace(const BlockSplit& split)
{
    return std::size_t(split.ranges * (split.weightStride + split.subsets * split.vectorElements)) * sizeof(float);
}

inline void setArgs(SplitArgs& args, const MixWeightGrad& mix, const BlockSplit& split)
{
    args.stack = argsOf(mix.stack);
    for (int o = 0; o < mix.stack.outputs; ++o)
        args.outGrad[o] = mix.outGrad[o];
    args.gateLogits = static_cast<const float*>(mix.gateLogits);
    args.rstd = mix.stack.gateInput == GateInput::normalised ? static_cast<const float*>(mix.rstd) : nullptr;
    args.tokenGrad = static_cast<float*>(mix.tokenGrad);
    float* workspace = static_cast<float*>(mix.workspace);
    args.weightPartial = mix.weightGrad ? workspace : nullptr;
    args.vectorPartial = mix.gateVectorGrad ? workspace + split.ranges * split.weightStride : nullptr;
    args.weightStride = split.weightStride;
    args.rangeTokens = split.rangeTokens;
}

inline bool rowsAligned(const MixWeightGrad& mix)
{
    bool all = true;
    for (std::int32_t s = 0; s < mix.stack.sources; ++s)
        all = all && aligned(mix.stack.source[s]);
    for (int o = 0; o < mix.stack.outputs; ++o)
        all = all && aligned(mix.outGrad[o]);
    return all;
}

/// Returns the shared memory of a block if a multiprocessor holds `resident` of them.
inline std::size_t sharedOf(std::size_t most, int resident)
{
    constexpr std::size_t kReserved = 1024; // by the system, for each block
    const std::size_t each = (most + kReserved) / std::size_t(resident);
    return each > kReserved ? each - kReserved : 0;
}

/// Adds the partial sums of a kernel that returned `status`.
inline Status sumBlocks(Status status, const MixWeightGrad& mix, const SplitArgs& args, const BlockSplit& split,
                        void* stream)
{
    if (status == Status::ok && mix.weightGrad)
        status = addPartials<float>(
            {args.weightPartial, mix.weightGrad, weightElements(mix.stack), split.weightStride, split.ranges}, stream);
    if (status == Status::ok && mix.gateVectorGrad)
        status = addPartials<float>({args.vectorPartial, mix.gateVectorGrad, split.vectorElements, split.vectorElements,
                                     split.ranges * split.subsets},
                                    stream);
    return status;
}

} // namespace residua::kernels::cuda
