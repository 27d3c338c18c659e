// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/operator.h"
#include "engine/compute/init/init_plan.h"
#include "engine/compute/ops/fused.h"
#include "projects/depth/visit_adapters.h"
#include "projects/nodes/node_kinds.h"

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::engine {

/// The arguments of a builder.
struct NodeContext {
    const projects::Node& node;
    const projects::ParamMap& params;        ///< complete and evaluated
    std::span<const projects::Shape> inputs; ///< in port order
    std::span<const std::size_t> slots;      ///< of the inputs; equal for ports that read the same value
    std::string place;                       ///< in the document, for errors of a pass
    std::string graphPrefix;                 ///< of parameter names: "layers.3."
    bool writesResidual = false;             ///< true if its output reaches that of its block through additions only
    std::string follows;                     ///< as ParameterStart::follows
    double startFactor = 1;                  ///< as GraphSetting::startFactor
    double depth = 0;                        ///< as GraphSetting::depth
    projects::VisitAdapters adapters = {};   ///< as GraphSetting::adapters
    InitPlan& plan;
    /// Tensors that nodes share: the tied head's table, and norms' weights by the owner's name.
    at::Tensor tied;
    std::map<std::string, std::vector<at::Tensor>>& sharedNorms;
    RotaryTables& rotaryTables;

    [[nodiscard]] std::string prefix() const { return graphPrefix + node.name + "."; }
    /// Declares a parameter of this node: layers.3.attn.`name`.
    [[nodiscard]] at::Tensor parameter(const std::string& name, at::IntArrayRef shape, Role role) const
    {
        return plan.add(prefix() + name, shape, role);
    }
    /// Declares a weight of this node that can be factored (NodeKind::parametersRule names its rank), of the rank that
    /// the node sets. It starts as its role says, times `factor`.
    [[nodiscard]] Weight weight(const std::string& name, at::IntArrayRef shape, double factor = 1) const;
    /// Declares a matrix that computes the node's output. It starts as its role says, times `factor`.
    [[nodiscard]] at::Tensor outputMatrix(const std::string& name, at::IntArrayRef shape, double factor = 1) const
    {
        const Role role = writesResidual ? Role::ResidualMatrix : Role::Matrix;
        return plan.add(prefix() + name, shape,
                        {.role = role, .factor = factor * startFactor, .values = {}, .follows = follows}, Decay::Yes);
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
[[nodiscard]] std::span<const NodeBuilderEntry> imageBuilders();

/// Returns the builder of a kind, or nullptr if the engine cannot run it.
[[nodiscard]] NodeBuilder findNodeBuilder(const std::string& kind);

/// An operator that calls a function (Inputs, Pass) → Tensor.
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

/// Builds multi-head attention with its projections. Parameters: q.weight, k.weight, v.weight and out.weight (each with
/// .bias if requested, and as .u and .v instead of .weight below full rank); with qk_norm also q_norm.weight and
/// k_norm.weight: [features per head] or [features of all heads]. On the CPU, the projections, the rotation and the
/// attention are one function unless there are biases, norms, shared heads or a window shorter than the text. If q, k
/// and v then read the same value, one product computes all three; the parameters keep their names.
[[nodiscard]] OperatorResult buildAttention(const NodeContext& node);

} // namespace residua::engine
