// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace residua::engine {

/// Differentiable functions whose bits follow from shapes and values alone on the host, however many threads there are.
/// LibTorch's own of the same names give each thread a share that depends on their number: a sum over all elements then
/// adds in another order, and a vectorised function leaves other elements to the scalar code at the end of a share. On
/// other devices these are LibTorch's own. None has a second derivative.
///
/// LibTorch's other functions that a network uses (arithmetic, exp, tanh, sums over some dimensions, norms, the
/// cross entropy, attention that drops nothing) do not depend on the threads; tests/engine/runtime/tst_threads.cpp
/// holds them to it. Products do not where host_products.h says so.

/// Σ of all elements, in double for doubles and else in float: [].
[[nodiscard]] at::Tensor sumOfAll(const at::Tensor& x);

/// x·factor; `factor` has one element, or one for each feature of x [..., d].
[[nodiscard]] at::Tensor scaled(const at::Tensor& x, const at::Tensor& factor);

[[nodiscard]] at::Tensor sigmoid(const at::Tensor& x);
[[nodiscard]] at::Tensor silu(const at::Tensor& x);
[[nodiscard]] at::Tensor gelu(const at::Tensor& x);
/// x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
[[nodiscard]] at::Tensor geluTanh(const at::Tensor& x);
/// base^exponent; each broadcasts to the shape of both.
[[nodiscard]] at::Tensor power(const at::Tensor& base, const at::Tensor& exponent);

/// The softmax over any dimension. Where x is −∞ it is 0.
[[nodiscard]] at::Tensor softmax(const at::Tensor& x, std::int64_t dimension);

/// (x − mean)/√(variance + ε) · weight (+ bias) over the last dimension, all in one type; `bias` may be undefined.
[[nodiscard]] at::Tensor layerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                   double epsilon);

/// Over time: x [batch, in, time], weight [out, in / groups, kernel], bias [out] or undefined; stride 1, no padding.
[[nodiscard]] at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                     std::int64_t groups);

} // namespace residua::engine
