// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runtime/compute.h"
#include "kernels/transformer.h"
#include "projects/nodes/attention_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>

namespace residua::engine {

/// Differentiable functions that are one pass over memory each: our kernels on the CPU and on a GPU that has them,
/// ATen's operators elsewhere, with the same results up to rounding. Weights are in the compute's parameter type, data
/// in any of the kernels' types.

/// x / √(mean x² + ε) · weight over the last dimension; `weight` [d].
[[nodiscard]] at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon);
/// The same in `type`, rounded to it once.
[[nodiscard]] at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon, at::ScalarType type);

/// silu(gate) · up; contiguous, or both the columns of one matrix.
[[nodiscard]] at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up);

/// What it is made of, not differentiable. `gate` and `up` [.., h] may be columns of one matrix, and so may `gateGrad`
/// and `upGrad`, which are written; `outGrad` is contiguous.
[[nodiscard]] at::Tensor gated(const at::Tensor& gate, const at::Tensor& up);
void gatedBackward(const at::Tensor& gate, const at::Tensor& up, const at::Tensor& outGrad, at::Tensor gateGrad,
                   at::Tensor upGrad);

/// Angles of a rotary embedding; grows to the longest sequence seen. Engine thread.
class RotaryTable {
public:
    RotaryTable(const Compute& compute, const projects::RotaryPositions& positions);

    /// For the first features of a head, twice as many as there are columns; others stay as they are.
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

/// The tables of one network, so that layers share them.
class RotaryTables {
public:
    [[nodiscard]] std::shared_ptr<RotaryTable> get(const Compute& compute, const projects::RotaryPositions& positions);

private:
    std::map<projects::RotaryPositions, std::shared_ptr<RotaryTable>> m_tables;
};

/// Rotary embedding, rotate-half, of [batch, time, heads, headWidth] (any strides with adjacent features): contiguous.
[[nodiscard]] at::Tensor rotary(const at::Tensor& x, const RotaryTable::Angles& angles);

/// The kernel under it: `in` turned by the angles, or back, into `out`, which may be `in`. Both [batch, time, heads,
/// headWidth], of any strides with adjacent features; not differentiable.
void rotate(const at::Tensor& in, const at::Tensor& out, const RotaryTable::Angles& angles, kernels::Rotation rotation);

/// y = x·Wᵀ (+ b) in the compute's activation type.
[[nodiscard]] at::Tensor linear(const Compute& compute, const at::Tensor& x, const at::Tensor& weight,
                                const at::Tensor& bias = {});

} // namespace residua::engine
