// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/operator.h"
#include "engine/init/init_plan.h"
#include "engine/ops/fused.h"
#include "projects/nodes/node_kinds.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// What a builder knows of the node that it makes run.
struct NodeContext {
    const projects::Node& node;
    const projects::ParamMap& params;        ///< complete and evaluated
    std::span<const projects::Shape> inputs; ///< in port order
    std::span<const std::size_t> slots;      ///< of the inputs; equal where ports read the same value
    std::string graphPrefix;                 ///< of parameter names: "layers.3."
    bool writesResidual = false;             ///< its output reaches that of its block through additions alone
    std::string follows;                     ///< as ParameterStart::follows
    InitPlan& plan;
    /// Tensors that nodes share: the tied head's table, and norms' weights by the name of the node that owns them.
    at::Tensor tied;
    std::map<std::string, std::vector<at::Tensor>>& sharedNorms;
    RotaryTables& rotaryTables;

    [[nodiscard]] std::string prefix() const { return graphPrefix + node.name + "."; }
    /// A parameter of this node: layers.3.attn.`name`.
    [[nodiscard]] at::Tensor parameter(const std::string& name, at::IntArrayRef shape, Role role) const
    {
        return plan.add(prefix() + name, shape, role);
    }
    /// A weight of this node that can be factored (NodeKind::weightsRule names it): of the rank that the node says. It
    /// starts as `factor` times what its role says.
    [[nodiscard]] Weight weight(const std::string& name, at::IntArrayRef shape, double factor = 1) const;
    /// A matrix of this node whose output is the node's output; it starts as `factor` times what its role says.
    [[nodiscard]] at::Tensor outputMatrix(const std::string& name, at::IntArrayRef shape, double factor = 1) const
    {
        const Role role = writesResidual ? Role::ResidualMatrix : Role::Matrix;
        return plan.add(prefix() + name, shape, {.role = role, .factor = factor, .values = {}, .follows = follows},
                        Decay::Yes);
    }
    [[nodiscard]] std::int64_t features(std::size_t input = 0) const { return inputs[input].features(); }
};

using OperatorResult = Result<std::unique_ptr<Operator>>;
using NodeBuilder = OperatorResult (*)(const NodeContext&);
struct NodeBuilderEntry {
    const char* kind; ///< key of projects' node-kind table
    NodeBuilder build;
};

/// One table per category, as in projects' node_kinds_*.cpp.
[[nodiscard]] std::span<const NodeBuilderEntry> linearBuilders();
[[nodiscard]] std::span<const NodeBuilderEntry> normBuilders();
[[nodiscard]] std::span<const NodeBuilderEntry> sequenceBuilders();
[[nodiscard]] std::span<const NodeBuilderEntry> arithmeticBuilders();

/// nullptr for a kind that the engine cannot run.
[[nodiscard]] NodeBuilder findNodeBuilder(const std::string& kind);

/// An operator of a function (Inputs, Pass) → Tensor.
template <class Function>
class FunctionOperator final : public Operator {
public:
    explicit FunctionOperator(Function function) : m_function(std::move(function)) {}
    [[nodiscard]] at::Tensor run(const Inputs& inputs, const Pass& pass) const override
    {
        return m_function(inputs, pass);
    }

private:
    Function m_function;
};
template <class Function>
[[nodiscard]] OperatorResult makeOperator(Function function)
{
    return OperatorResult(std::make_unique<FunctionOperator<Function>>(std::move(function)));
}

} // namespace residua::engine
