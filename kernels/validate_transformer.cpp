// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/dropout.h"
#include "kernels/transformer.h"

#include <cmath>

namespace residua::kernels {
namespace {

bool known(DataType type)
{
    return type >= DataType::float32 && type <= DataType::float64;
}

template <class... Pointers>
bool present(Pointers... pointers)
{
    return (... && (pointers != nullptr));
}

template <class Norm>
Status validateNorm(const Norm& norm)
{
    const bool knownKind = norm.kind == NormKind::rms || norm.kind == NormKind::layer;
    if (!known(norm.dataType) || !knownKind || (norm.bfloat16Output && norm.dataType != DataType::float32))
        return Status::badKind;
    return norm.tokens < 0 || norm.width < 1 ? Status::badShape : Status::ok;
}

template <class Swiglu>
Status validateSwiglu(const Swiglu& swiglu)
{
    if (!known(swiglu.dataType))
        return Status::badKind;
    return swiglu.tokens < 0 || swiglu.width < 1 || swiglu.rowStride < swiglu.width ? Status::badShape : Status::ok;
}

} // namespace

Status validate(const NormForward& norm)
{
    if (const Status status = validateNorm(norm); status != Status::ok)
        return status;
    if (!(std::isfinite(norm.eps) && norm.eps >= 0))
        return Status::badEpsilon;
    return norm.tokens == 0 || (present(norm.x, norm.y) && (!norm.residual || norm.sum)) ? Status::ok
                                                                                         : Status::missingPointer;
}

Status validate(const NormBackward& norm)
{
    if (const Status status = validateNorm(norm); status != Status::ok)
        return status;
    if (norm.residualGrad && !norm.bfloat16Output)
        return Status::badKind;
    const bool hasMean = norm.kind == NormKind::rms || norm.mean;
    return norm.tokens == 0 || (hasMean && present(norm.yGrad, norm.x, norm.rstd, norm.xGrad)) ? Status::ok
                                                                                               : Status::missingPointer;
}

Status validate(const SwigluForward& swiglu)
{
    if (const Status status = validateSwiglu(swiglu); status != Status::ok)
        return status;
    return swiglu.tokens == 0 || present(swiglu.gate, swiglu.up, swiglu.out) ? Status::ok : Status::missingPointer;
}

Status validate(const SwigluBackward& swiglu)
{
    if (const Status status = validateSwiglu(swiglu); status != Status::ok)
        return status;
    if (swiglu.gradRowStride < swiglu.width)
        return Status::badShape;
    const bool complete = present(swiglu.gate, swiglu.up, swiglu.outGrad, swiglu.gateGrad, swiglu.upGrad);
    return swiglu.tokens == 0 || complete ? Status::ok : Status::missingPointer;
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

Status validate(const CrossEntropy& entropy)
{
    if (!known(entropy.dataType) || (entropy.targetType != IndexType::int32 && entropy.targetType != IndexType::int64))
        return Status::badKind;
    if (entropy.tokens < 0 || entropy.classes < 1 || entropy.rowStride < entropy.classes ||
        (entropy.grad && entropy.gradRowStride < entropy.classes))
        return Status::badShape;
    if (entropy.grad == entropy.logits && entropy.grad && entropy.gradRowStride != entropy.rowStride)
        return Status::overlap;
    return entropy.tokens == 0 || present(entropy.logits, entropy.targets) ? Status::ok : Status::missingPointer;
}

Status validate(const Dropout& dropout)
{
    if (!known(dropout.dataType) || !std::isfinite(dropout.scale))
        return Status::badKind;
    if (dropout.examples < 0 || dropout.width < 1)
        return Status::badShape;
    return dropout.examples == 0 || present(dropout.in, dropout.out, dropout.draws) ? Status::ok
                                                                                    : Status::missingPointer;
}

} // namespace residua::kernels
