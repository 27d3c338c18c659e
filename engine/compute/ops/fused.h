// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/runtime/compute.h"
#include "kernels/transformer.h"
#include "projects/nodes/attention_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>

namespace torch::autograd {
struct Node;
} // namespace torch::autograd

namespace residua::engine {

/// Differentiable functions with one pass over memory each. They use the custom kernels on the CPU and on a GPU that
/// has them, and ATen's operators elsewhere, with equal results up to rounding. Weights are in the compute's parameter
/// type, data in any of the kernels' types.

/// Returns silu(gate) · up. Both are contiguous, or columns of one matrix.
[[nodiscard]] at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

/// The forward and backward of swiglu(), not differentiable. `gate` and `up` [.., h] may be columns of one matrix, as
/// may `gateGrad` and `upGrad`, which are written; `outGrad` is contiguous. A defined `largest` [N]
/// receives the largest magnitude of each row of the result, or of both gradients (largestOfRows() makes it).
[[nodiscard]] at::Tensor gated(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& largest = {});
void gatedBackward(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& outGrad, at::Tensor gateGrad,
                   at::Tensor upGrad, const at::Tensor& largest = {});
/// Returns an uninitialised number in float for each row of bfloat16 `x`; undefined if no kernel fills it.
[[nodiscard]] at::Tensor largestOfRows(const at::Tensor& x);

/// The angles of a rotary embedding. Grows to the longest sequence seen. Engine thread.
class RotaryTable {
public:
    RotaryTable(const Compute& compute, const projects::RotaryPositions& positions);

    /// Apply to the first features of a head, two per column; other features are unchanged.
    struct Angles {
        at::Tensor cosine; ///< [time, rotating features / 2]
        at::Tensor sine;
    };
    [[nodiscard]] const Angles& upTo(std::int64_t time);

private:
    Compute m_compute;
    projects::RotaryPositions m_positions;
    Angles m_angles;
};

/// The tables of one network, shared by its layers.
class RotaryTables {
public:
    [[nodiscard]] std::shared_ptr<RotaryTable> get(const Compute& compute, const projects::RotaryPositions& positions);

private:
    std::map<projects::RotaryPositions, std::shared_ptr<RotaryTable>> m_tables;
};

/// Returns the rotary embedding (rotate-half) of [batch, time, heads, headWidth], which may have any strides with
/// adjacent features. The result is contiguous.
[[nodiscard]] at::Tensor rotary(const at::Tensor& x, const RotaryTable::Angles& angles);

/// Rotates `in` by the angles, or backwards, into `out`, which may be `in`. Both are [batch, time, heads, headWidth],
/// with any strides and adjacent features. Not differentiable.
void rotate(const at::Tensor& in, const at::Tensor& out, const RotaryTable::Angles& angles, kernels::Rotation rotation);

/// Returns a parameter, or a view of one, in the compute's activation type: the network's rounded copy if it has one,
/// else a new one. The gradient has the parameter's type. An undefined tensor stays undefined.
[[nodiscard]] at::Tensor rounded(const Compute& compute, const at::Tensor& weight);

/// True if `node` is the backward of rounded() or linear(), which read parameters only in the activation type.
[[nodiscard]] bool readsRounded(const torch::autograd::Node& node);

/// Returns y = x·Wᵀ (+ b) in the compute's activation type.
[[nodiscard]] at::Tensor linear(const Compute& compute, const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias = {});

} // namespace residua::engine
