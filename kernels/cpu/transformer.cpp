// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/transformer.h"

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/parallel.h"

#include <algorithm>

namespace residua::kernels {
namespace {

std::int64_t accumulatorBytes(DataType type)
{
    return type == DataType::float64 ? 8 : 4;
}

ChunkLayout layoutOf(const NormBackward& norm)
{
    const ChunkLayout tokens = chunksOf(norm.tokens);
    return {tokens.chunkTokens, tokens.chunks, norm.weightGrad ? (norm.width + 15) / 16 * 16 : 0};
}

} // namespace

Status normForward(const NormForward& norm, const Parallel& parallel)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    if (norm.bfloat16Output || norm.kind != NormKind::rms)
        return Status::badKind;
    forRange(parallel, norm.tokens, grainFor(norm.width * 2 * accumulatorBytes(norm.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().normForward(norm, begin, end); });
    return Status::ok;
}

std::size_t normBackwardWorkspace(const NormBackward& norm)
{
    const ChunkLayout layout = layoutOf(norm);
    return std::size_t(layout.chunks * layout.stride * accumulatorBytes(norm.dataType));
}

Status normBackward(const NormBackward& norm, const Parallel& parallel)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    if (norm.bfloat16Output || norm.kind != NormKind::rms)
        return Status::badKind;
    const std::size_t needed = normBackwardWorkspace(norm);
    if (needed > norm.workspaceBytes || (needed > 0 && !norm.workspace))
        return Status::workspaceTooSmall;
    const ChunkLayout layout = layoutOf(norm);
    const std::int64_t partialBytes = layout.stride * accumulatorBytes(norm.dataType);
    forRange(parallel, layout.chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            void* partial = norm.weightGrad ? static_cast<char*>(norm.workspace) + chunk * partialBytes : nullptr;
            isaTable().normBackward(norm, chunk * layout.chunkTokens,
                                    std::min(norm.tokens, (chunk + 1) * layout.chunkTokens), partial);
        }
    });
    if (norm.weightGrad)
        sumChunks(norm.dataType, norm.workspace, 0, layout, norm.width, norm.weightGrad, parallel);
    return Status::ok;
}

Status swigluForward(const SwigluForward& swiglu, const Parallel& parallel)
{
    if (const Status status = validate(swiglu); status != Status::ok)
        return status;
    forRange(parallel, swiglu.tokens, grainFor(swiglu.width * 3 * accumulatorBytes(swiglu.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().swigluForward(swiglu, begin, end); });
    return Status::ok;
}

Status swigluBackward(const SwigluBackward& swiglu, const Parallel& parallel)
{
    if (const Status status = validate(swiglu); status != Status::ok)
        return status;
    forRange(parallel, swiglu.tokens, grainFor(swiglu.width * 5 * accumulatorBytes(swiglu.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().swigluBackward(swiglu, begin, end); });
    return Status::ok;
}

Status dropout(const Dropout& dropout, const Parallel& parallel)
{
    if (const Status status = validate(dropout); status != Status::ok)
        return status;
    const std::int64_t groups = (dropout.width + kDropoutGroup - 1) / kDropoutGroup;
    forRange(parallel, dropout.examples * groups, grainFor(kDropoutGroup * 2 * accumulatorBytes(dropout.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().dropout(dropout, begin, end); });
    return Status::ok;
}

Status rotary(const Rotary& rotation, const Parallel& parallel)
{
    if (const Status status = validate(rotation); status != Status::ok)
        return status;
    forRange(parallel, rotation.batch * rotation.time,
             grainFor(rotation.heads * rotation.headWidth * 2 * accumulatorBytes(rotation.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().rotary(rotation, begin, end); });
    return Status::ok;
}

} // namespace residua::kernels
