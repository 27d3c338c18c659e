// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/operator.h"
#include "engine/ops/weight.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace residua::engine {

/// What a linear is to the MLP that it belongs to: it makes the hidden features, or reads them.
enum class MlpSide { None, Opens, Closes };

/// y = x·Wᵀ (+ b). Where the pass runs parts of the MLP alone, of W their rows or columns, and no product with others.
class LinearOperator final : public Operator {
public:
    LinearOperator(const Compute& compute, Weight weight, at::Tensor bias);
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;
    /// Makes it a side of the MLP `mlp`, a number of its own in the graph.
    void joinMlp(MlpSide side, std::uint64_t mlp)
    {
        m_side = side;
        m_mlp = mlp;
    }
    [[nodiscard]] MlpSide side() const { return m_side; }
    [[nodiscard]] std::uint64_t mlp() const { return m_mlp; }

    [[nodiscard]] const Compute& compute() const { return m_compute; }
    [[nodiscard]] const Weight& weight() const { return m_weight; }
    [[nodiscard]] const at::Tensor& bias() const { return m_bias; }
    [[nodiscard]] bool hasBias() const { return m_bias.defined(); }

private:
    Compute m_compute;
    Weight m_weight;
    at::Tensor m_bias; ///< [out], or undefined
    MlpSide m_side = MlpSide::None;
    std::uint64_t m_mlp = 0;
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
