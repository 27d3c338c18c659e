// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/depth_mix.h"

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/parallel.h"

#include <algorithm>
#include <cstring>

namespace residua::kernels {
namespace {

/// Work below this many bytes is not worth a thread.
constexpr std::int64_t kGrainBytes = 128 * 1024;

std::int64_t grainTokens(std::int64_t bytesPerToken) { return std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, bytesPerToken)); }

std::int64_t accumulatorBytes(DataType type) { return type == DataType::float64 ? 8 : 4; }

PartialLayout layoutOf(const MixWeightGrad& mix) {
    const MixStack& stack = mix.stack;
    const std::int64_t weights = std::int64_t(stack.outputs) * stack.sources;
    PartialLayout layout{};
    layout.chunkTokens = std::clamp<std::int64_t>((stack.tokens + 63) / 64, 128, 1024);
    layout.chunks = (stack.tokens + layout.chunkTokens - 1) / layout.chunkTokens;
    layout.weightElements = mix.weightGrad ? (stack.weightKind == WeightKind::perFeature ? weights * stack.width : weights) : 0;
    layout.vectorElements = mix.gateVectorGrad ? stack.outputs * stack.width : 0;
    layout.stride = (layout.weightElements + layout.vectorElements + 15) / 16 * 16;
    return layout;
}

/// to[e] = Σ_chunk partial[chunk][e], in the order of the chunks.
template <class A>
void sumChunks(const A* partial, const PartialLayout& layout, std::int64_t elements, A* to, const Parallel& parallel) {
    forRange(parallel, elements, 4096, [&](std::int64_t begin, std::int64_t end) {
        std::fill(to + begin, to + end, A(0));
        for (std::int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
            const A* from = partial + chunk * layout.stride;
            for (std::int64_t e = begin; e < end; ++e)
                to[e] += from[e];
        }
    });
}

template <class A> void reduce(const MixWeightGrad& mix, const PartialLayout& layout, const Parallel& parallel) {
    const A* partial = static_cast<const A*>(mix.workspace);
    if (layout.weightElements)
        sumChunks(partial, layout, layout.weightElements, static_cast<A*>(mix.weightGrad), parallel);
    if (layout.vectorElements)
        sumChunks(partial + layout.weightElements, layout, layout.vectorElements, static_cast<A*>(mix.gateVectorGrad), parallel);
}

}  // namespace

Status mixForward(const MixForward& mix, const Parallel& parallel) {
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const MixStack& stack = mix.stack;
    const std::int64_t bytes = (stack.sources + stack.outputs) * stack.width * accumulatorBytes(stack.dataType);
    forRange(parallel, stack.tokens, grainTokens(bytes),
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixForward(mix, begin, end); });
    return Status::ok;
}

std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix) {
    const PartialLayout layout = layoutOf(mix);
    return std::size_t(layout.chunks * layout.stride * accumulatorBytes(mix.stack.dataType));
}

Status mixWeightGrad(const MixWeightGrad& mix, const Parallel& parallel) {
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const std::size_t needed = mixWeightGradWorkspace(mix);
    if (needed > mix.workspaceBytes || (needed > 0 && !mix.workspace))
        return Status::workspaceTooSmall;
    const PartialLayout layout = layoutOf(mix);
    forRange(parallel, layout.chunks, 1,
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixWeightGrad(mix, layout, begin, end); });
    if (mix.stack.dataType == DataType::float64)
        reduce<double>(mix, layout, parallel);
    else
        reduce<float>(mix, layout, parallel);
    return Status::ok;
}

Status mixGather(const MixGather& mix, const Parallel& parallel) {
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const std::int64_t bytes = (mix.readers + 1) * mix.width * accumulatorBytes(mix.dataType);
    forRange(parallel, mix.tokens, grainTokens(bytes),
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixGather(mix, begin, end); });
    return Status::ok;
}

}  // namespace residua::kernels
