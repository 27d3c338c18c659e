// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/transformer.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// A norm over the last dimension: kernels::NormForward has the equations. The vectors [d] are in the compute's
/// parameter type.
struct Norm {
    kernels::NormKind kind = kernels::NormKind::rms;
    at::Tensor weight;
    at::Tensor bias; ///< of a layer norm, or undefined
    double epsilon = 1e-6;
    bool notesLargest = false; ///< the result has noteLargest() if it is bfloat16 and a kernel computes it
};

/// Returns the norm of `x` in `type`, rounded once; differentiable. RMSNorm uses the custom kernels on the CPU, both
/// norms use them on a GPU that has them, and ATen's operators elsewhere, with equal results up to rounding.
[[nodiscard]] at::Tensor normalised(const Norm& norm, const at::Tensor& x, at::ScalarType type);

/// A sum and its norm.
struct NormalisedSum {
    at::Tensor sum;
    at::Tensor normalised;
};

/// Returns x + branch, of the same shape, and its norm in `type`; without a branch, x and its norm. Further uses of x
/// should read `sum`: the backward then adds their gradient to the norm's in the norm's own pass. One pass over memory
/// each way where normalised() has a kernel, if the types allow it: all alike, or on a GPU float32 `x` with bfloat16
/// `branch` and `type`.
[[nodiscard]] NormalisedSum normalisedSum(const Norm& norm, const at::Tensor& x, const at::Tensor& branch,
                                          at::ScalarType type);

/// Returns RMSNorm in the type of `x`.
[[nodiscard]] inline at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon)
{
    return normalised({kernels::NormKind::rms, weight, {}, epsilon}, x, x.scalar_type());
}

} // namespace residua::engine
