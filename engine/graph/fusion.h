// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/operator.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// y = x·Wᵀ (+ b).
class LinearOperator final : public Operator {
public:
    LinearOperator(const Compute& compute, at::Tensor weight, at::Tensor bias);
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;

    [[nodiscard]] const Compute& compute() const { return m_compute; }
    [[nodiscard]] const at::Tensor& weight() const { return m_weight; }
    [[nodiscard]] bool hasBias() const { return m_bias.defined(); }

private:
    Compute m_compute;
    at::Tensor m_weight; ///< [out, in]
    at::Tensor m_bias;   ///< [out], or undefined
};

/// silu(gate)·up.
class SwigluOperator final : public Operator {
public:
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;
};

/// One step of a graph's program: an operator over numbered slots.
struct ProgramStep {
    std::unique_ptr<Operator> run;
    std::vector<std::size_t> in;
    std::size_t out = 0;
    std::vector<std::size_t> done; ///< slots that nobody reads after this step
};

/// Rewrites a program so that it computes the same in fewer passes over memory: a SwiGLU whose gate and up are products
/// of one input without bias, read by nothing else, becomes one step. `outputs` are the slots that leave the graph. To
/// be called before last readers are marked.
void fuse(std::vector<ProgramStep>& steps, std::span<const std::size_t> outputs);

} // namespace residua::engine
