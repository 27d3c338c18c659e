// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/transformer.h"

#include "kernels/cpu/isa_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/sum_chunks.h"

#include <algorithm>
#include <cmath>

namespace residua::kernels {
namespace {

bool known(DataType type)
{
    return type >= DataType::float32 && type <= DataType::float64;
}

std::int64_t accumulatorBytes(DataType type)
{
    return type == DataType::float64 ? 8 : 4;
}

template <class... Pointers>
bool present(Pointers... pointers)
{
    return (... && (pointers != nullptr));
}

Status validate(const RmsNormForward& norm)
{
    if (!known(norm.dataType))
        return Status::badKind;
    if (norm.tokens < 0 || norm.width < 1)
        return Status::badShape;
    if (!(std::isfinite(norm.eps) && norm.eps >= 0))
        return Status::badEpsilon;
    return norm.tokens == 0 || (present(norm.x, norm.y) && (!norm.residual || norm.sum)) ? Status::ok
                                                                                         : Status::missingPointer;
}

Status validate(const RmsNormBackward& norm)
{
    if (!known(norm.dataType))
        return Status::badKind;
    if (norm.tokens < 0 || norm.width < 1)
        return Status::badShape;
    if (norm.tokens > 0 && !present(norm.yGrad, norm.x, norm.rstd, norm.xGrad))
        return Status::missingPointer;
    const std::size_t needed = rmsNormBackwardWorkspace(norm);
    return needed > norm.workspaceBytes || (needed > 0 && !norm.workspace) ? Status::workspaceTooSmall : Status::ok;
}

template <class Swiglu>
Status validateSwiglu(const Swiglu& swiglu)
{
    if (!known(swiglu.dataType))
        return Status::badKind;
    return swiglu.tokens < 0 || swiglu.width < 1 || swiglu.rowStride < swiglu.width ? Status::badShape : Status::ok;
}

Status validate(const Rotary& rotation)
{
    if (!known(rotation.dataType) ||
        (rotation.rotation != Rotation::forward && rotation.rotation != Rotation::backward))
        return Status::badKind;
    if (rotation.batch < 0 || rotation.time < 0 || rotation.heads < 0 || rotation.headWidth < 1 ||
        rotation.rotated < 0 || rotation.rotated > rotation.headWidth || rotation.rotated % 2 != 0)
        return Status::badShape;
    const bool empty = rotation.batch * rotation.time * rotation.heads == 0;
    const bool complete =
        present(rotation.in, rotation.out) && (rotation.rotated == 0 || present(rotation.cosine, rotation.sine));
    return empty || complete ? Status::ok : Status::missingPointer;
}

ChunkLayout layoutOf(const RmsNormBackward& norm)
{
    const ChunkLayout tokens = chunksOf(norm.tokens);
    return {tokens.chunkTokens, tokens.chunks, norm.weightGrad ? (norm.width + 15) / 16 * 16 : 0};
}

} // namespace

Status rmsNormForward(const RmsNormForward& norm, const Parallel& parallel)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    forRange(parallel, norm.tokens, grainFor(norm.width * 2 * accumulatorBytes(norm.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().rmsNormForward(norm, begin, end); });
    return Status::ok;
}

std::size_t rmsNormBackwardWorkspace(const RmsNormBackward& norm)
{
    const ChunkLayout layout = layoutOf(norm);
    return std::size_t(layout.chunks * layout.stride * accumulatorBytes(norm.dataType));
}

Status rmsNormBackward(const RmsNormBackward& norm, const Parallel& parallel)
{
    if (const Status status = validate(norm); status != Status::ok)
        return status;
    const ChunkLayout layout = layoutOf(norm);
    const std::int64_t partialBytes = layout.stride * accumulatorBytes(norm.dataType);
    forRange(parallel, layout.chunks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            void* partial = norm.weightGrad ? static_cast<char*>(norm.workspace) + chunk * partialBytes : nullptr;
            isaTable().rmsNormBackward(norm, chunk * layout.chunkTokens,
                                       std::min(norm.tokens, (chunk + 1) * layout.chunkTokens), partial);
        }
    });
    if (norm.weightGrad)
        sumChunks(norm.dataType, norm.workspace, 0, layout, norm.width, norm.weightGrad, parallel);
    return Status::ok;
}

Status swigluForward(const SwigluForward& swiglu, const Parallel& parallel)
{
    if (const Status status = validateSwiglu(swiglu); status != Status::ok)
        return status;
    if (swiglu.tokens > 0 && !present(swiglu.gate, swiglu.up, swiglu.out))
        return Status::missingPointer;
    forRange(parallel, swiglu.tokens, grainFor(swiglu.width * 3 * accumulatorBytes(swiglu.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().swigluForward(swiglu, begin, end); });
    return Status::ok;
}

Status swigluBackward(const SwigluBackward& swiglu, const Parallel& parallel)
{
    if (const Status status = validateSwiglu(swiglu); status != Status::ok)
        return status;
    if (swiglu.gradRowStride < swiglu.width)
        return Status::badShape;
    if (swiglu.tokens > 0 && !present(swiglu.gate, swiglu.up, swiglu.outGrad, swiglu.gateGrad, swiglu.upGrad))
        return Status::missingPointer;
    forRange(parallel, swiglu.tokens, grainFor(swiglu.width * 5 * accumulatorBytes(swiglu.dataType)),
             [&](std::int64_t begin, std::int64_t end) { isaTable().swigluBackward(swiglu, begin, end); });
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
