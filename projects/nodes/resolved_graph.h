// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/shape.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

struct Network;
struct Project;

/// A node with everything that is known before it runs.
struct ResolvedNode {
    NodeId id{};
    const NodeKind* kind = nullptr; ///< from the table
    ParamMap params;                ///< complete and evaluated
    std::vector<PortRef> feeds;     ///< the output that feeds each input port, in port order
    std::vector<Shape> in;          ///< in port order
    std::vector<Shape> out;         ///< in the kind's order
};

/// A port through which a value leaves a graph.
struct OutputPort {
    std::string name;
    NodeId node{}; ///< the output node
    PortRef from;  ///< the output that feeds it
    Shape shape;
};

/// A graph with computed ports, parameters and shapes. Those that cannot be computed are absent, with the reason in
/// `errors`.
struct ResolvedGraph {
    std::vector<ResolvedNode> nodes;     ///< each after the nodes that feed it
    std::map<PortRef, Shape> outputs;    ///< shape of every output port of a node
    std::vector<OutputPort> outputPorts; ///< kOutputPort first, the others in the document's order
    std::map<NodeId, Error> errors;      ///< placed at the faulty node or wire
    std::set<NodeId> unwired;            ///< nodes in `errors` with an unwired input port

    /// Returns null if there is no output port with this name.
    [[nodiscard]] const OutputPort* outputPort(std::string_view name) const;
};

/// Resolves a graph of a project. Empty if the graph does not exist.
[[nodiscard]] ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref);
/// Resolves `graph`, such as half of a block, with the inputs of the project's graph `ref`.
[[nodiscard]] ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref, const Graph& graph);
/// Returns the shape of the stack's entries: the stem's output at the network's width. If the stem cannot be resolved,
/// the shape of its input at that width.
[[nodiscard]] Shape stackShapeOf(const Project& project);
[[nodiscard]] Shape stackShapeOf(const ResolvedGraph& stem, const Shape& entering, std::int64_t width);
/// Resolves a graph whose input ports have shape `entering`, except the ports in `others`. Errors use the name `ref`.
[[nodiscard]] ResolvedGraph resolveGraph(const Graph& graph, const GraphRef& ref, const Result<Sizes>& sizes,
                                         const Shape& entering, const std::map<std::string, Shape>& others = {});

/// Returns the sizes for evaluating parameters in the graph. Stem and head have full rank, because the network's rank
/// applies only to the weights of blocks.
[[nodiscard]] Sizes sizesIn(const Sizes& sizes, const GraphRef& ref);
/// Returns the node's weights that can have less than full rank.
[[nodiscard]] std::vector<NodeParameter> rankedWeightsOf(const ResolvedNode& node);
/// Returns the activation that every reader of the node's output applies to it: "relu". Empty if there is none.
[[nodiscard]] std::string activationAfter(const Graph& graph, const ResolvedGraph& resolved, NodeId node);

/// Sorts the nodes so that each comes after those that feed it. The error names the nodes of a cycle.
[[nodiscard]] Result<std::vector<NodeId>> topologicalOrder(const Graph& graph);
/// Returns the nodes of a block whose outputs reach the block's output only through additions and dropout: they write
/// to the residual. Stems and heads have none, because their outputs are not added to the residual.
[[nodiscard]] std::set<NodeId> residualWriters(const Graph& block);

/// The nodes that share a weight under a tied head: the stem's first token embedding and the head's last linear.
struct TiedNodes {
    NodeId embedding{};
    NodeId linear{};
};
/// Returns nullopt if the head is not tied or a node is missing.
[[nodiscard]] std::optional<TiedNodes> tiedNodes(const Network& network);
/// Returns the norm that LoopNorm::Head applies: the first RMS norm with a weight of its own that reads the head's
/// input. Returns null if there is none.
[[nodiscard]] const Node* headNormOf(const Network& network);

} // namespace residua::projects
