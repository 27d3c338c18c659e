// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/depth_mix.h"

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/parallel.h"

namespace residua::kernels {
namespace {

std::int64_t accumulatorBytes(DataType type)
{
    return type == DataType::float64 ? 8 : 4;
}

PartialLayout layoutOf(const MixWeightGrad& mix)
{
    const MixStack& stack = mix.stack;
    const std::int64_t weights = std::int64_t(stack.outputs) * stack.sources;
    PartialLayout layout{};
    layout.chunks = chunksOf(stack.tokens);
    layout.weightElements =
        mix.weightGrad ? (stack.weightKind == WeightKind::perFeature ? weights * stack.width : weights) : 0;
    layout.vectorElements = mix.gateVectorGrad ? stack.outputs * stack.width : 0;
    layout.chunks.stride = (layout.weightElements + layout.vectorElements + 15) / 16 * 16;
    return layout;
}

} // namespace

Status mixForward(const MixForward& mix, const Parallel& parallel)
{
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const MixStack& stack = mix.stack;
    const std::int64_t bytes = (stack.sources + stack.outputs) * stack.width * accumulatorBytes(stack.dataType);
    forRange(parallel, stack.tokens, grainFor(bytes),
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixForward(mix, begin, end); });
    return Status::ok;
}

std::size_t mixWeightGradWorkspace(const MixWeightGrad& mix)
{
    const PartialLayout layout = layoutOf(mix);
    return std::size_t(layout.chunks.chunks * layout.chunks.stride * accumulatorBytes(mix.stack.dataType));
}

Status mixWeightGrad(const MixWeightGrad& mix, const Parallel& parallel)
{
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const std::size_t needed = mixWeightGradWorkspace(mix);
    if (needed > mix.workspaceBytes || (needed > 0 && !mix.workspace))
        return Status::workspaceTooSmall;
    const PartialLayout layout = layoutOf(mix);
    forRange(parallel, layout.chunks.chunks, 1,
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixWeightGrad(mix, layout, begin, end); });
    const DataType type = mix.stack.dataType;
    if (layout.weightElements)
        sumChunks(type, mix.workspace, 0, layout.chunks, layout.weightElements, mix.weightGrad, parallel);
    if (layout.vectorElements)
        sumChunks(type, mix.workspace, layout.weightElements, layout.chunks, layout.vectorElements, mix.gateVectorGrad,
                  parallel);
    return Status::ok;
}

Status mixGather(const MixGather& mix, const Parallel& parallel)
{
    if (const Status status = validate(mix); status != Status::ok)
        return status;
    const std::int64_t bytes = (mix.readers + 1) * mix.width * accumulatorBytes(mix.dataType);
    forRange(parallel, mix.tokens, grainFor(bytes),
             [&](std::int64_t begin, std::int64_t end) { isaTable().mixGather(mix, begin, end); });
    return Status::ok;
}

} // namespace residua::kernels
