// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/operator.h"
#include "engine/compute/ops/norm.h"
#include "engine/compute/ops/weight.h"

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace residua::engine {

/// The role of a linear in its MLP: it computes the hidden features, or reads them.
enum class MlpSide { None, Opens, Closes };

/// y = x·Wᵀ (+ b). An input may have further features, which are 0. If the pass runs only some parts of the MLP, uses
/// their rows or columns of W in a product of its own.
class LinearOperator final : public Operator {
public:
    LinearOperator(const Compute& compute, Weight weight, at::Tensor bias);
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;
    // The factors of kept parts multiply the input in its own type.
    [[nodiscard]] bool castsInputs() const override { return m_side != MlpSide::Closes; }
    /// Makes it a side of the MLP number `mlp` of the graph.
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

/// The sum of all inputs that are present, from the first on.
class AddOperator final : public Operator {
public:
    /// `broadcasts`: the inputs have different shapes, so that no norm can compute the sum.
    explicit AddOperator(bool broadcasts = false) : m_broadcasts(broadcasts) {}
    [[nodiscard]] bool broadcasts() const { return m_broadcasts; }
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;

private:
    bool m_broadcasts;
};

/// True if the step is a sum of two values of one shape.
[[nodiscard]] bool addsTwo(const Operator& run, std::span<const std::size_t> in);

/// A norm over the features, of one input or of the sum of two, where the second may be absent. Its second output is
/// that sum. Returns the input's type, unless fuse() finds that all readers cast it.
class NormOperator final : public Operator {
public:
    NormOperator(const Compute& compute, Norm norm) : m_compute(compute), m_norm(std::move(norm)) {}
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override;
    [[nodiscard]] std::pair<at::Tensor, at::Tensor> runBoth(const Inputs& inputs, const Pass& pass) const override;
    /// Makes it return the compute's activation type, so that the result is rounded once and its gradient is summed in
    /// that type.
    void narrow() { m_type = m_compute.activationType; }
    [[nodiscard]] const Compute& compute() const { return m_compute; }

private:
    Compute m_compute;
    Norm m_norm;
    std::optional<at::ScalarType> m_type;
};

/// One step of a graph's program: an operator over numbered slots.
struct ProgramStep {
    std::unique_ptr<Operator> run;
    std::vector<std::size_t> in;
    std::size_t out = 0;
    std::vector<std::size_t> done;          ///< slots that no later step reads
    std::optional<std::size_t> second = {}; ///< the slot of the operator's second output
};

/// Rewrites a program to compute the same in fewer passes over memory. A SwiGLU becomes one step with its gate and up
/// products if these have the same input and no bias or other reader. On a GPU, if its features make rows of unaligned
/// length and are read by one product only, these are padded by zeros, which no parameter has. A norm computes a sum of
/// two that no earlier step reads. If others read what it is the norm of, they read the norm's second output, in the
/// same slot, whose gradient the norm adds in its backward. On a GPU, a norm whose readers all cast it returns the
/// activation type. `outputs` are the slots that are read at the end, and `kept` those that must have a step of their
/// own. Must be called before ProgramStep::done is set.
void fuse(std::vector<ProgramStep>& steps, std::span<const std::size_t> outputs,
          std::span<const std::size_t> kept = {});

} // namespace residua::engine
