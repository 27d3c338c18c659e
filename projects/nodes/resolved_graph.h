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

/// A node with all that is known of it before it runs.
struct ResolvedNode {
    NodeId id{};
    const NodeKind* kind = nullptr; ///< of the table
    ParamMap params;                ///< complete and evaluated
    std::vector<PortRef> feeds;     ///< the output that feeds each input port, in port order
    std::vector<Shape> in;          ///< in port order
    std::vector<Shape> out;         ///< in the kind's order
};

/// A port by which a value leaves a graph.
struct OutputPort {
    std::string name;
    NodeId node{}; ///< that stands for it
    PortRef from;  ///< what feeds it
    Shape shape;
};

/// A graph whose ports, parameters and shapes are worked out. What could not be is absent, with its reason in `errors`.
struct ResolvedGraph {
    std::vector<ResolvedNode> nodes;     ///< each after what feeds it
    std::map<PortRef, Shape> outputs;    ///< the shape on every output port of a node
    std::vector<OutputPort> outputPorts; ///< kOutputPort before all others, which are in the document's order
    std::map<NodeId, Error> errors;      ///< placed at the node or at the wire that is wrong
    std::set<NodeId> unwired;            ///< those of `errors` where an input port has no wire

    /// nullptr where nothing leaves by a port of that name.
    [[nodiscard]] const OutputPort* outputPort(std::string_view name) const;
};

/// The graph of a project; empty for one that is not there.
[[nodiscard]] ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref);
/// Resolves `graph`, a half of a block say, with the values that the project's graph `ref` is given.
[[nodiscard]] ResolvedGraph resolveGraph(const Project& project, const GraphRef& ref, const Graph& graph);
/// A graph whose input ports are given `entering`, but for the ports in `others`. `ref` is its name in errors.
[[nodiscard]] ResolvedGraph resolveGraph(const Graph& graph, const GraphRef& ref, const Result<Sizes>& sizes,
                                         const Shape& entering, const std::map<std::string, Shape>& others = {});

/// The sizes that parameters in the graph are evaluated with. They differ by the rank, which is full in stem and head:
/// the network's rank is for the blocks' weights alone.
[[nodiscard]] Sizes sizesIn(const Sizes& sizes, const GraphRef& ref);
/// The node's weights that can be of less than full rank.
[[nodiscard]] std::vector<RankedWeight> rankedWeightsOf(const ResolvedNode& node);
/// The activation that every reader of the node's output applies to it: "relu"; empty where there is no such one.
[[nodiscard]] std::string activationAfter(const Graph& graph, const ResolvedGraph& resolved, NodeId node);

/// The nodes in an order in which each comes after what feeds it; an error names a cycle's nodes.
[[nodiscard]] Result<std::vector<NodeId>> topologicalOrder(const Graph& graph);
/// Nodes of a block whose outputs reach the block's own through additions and dropout alone: they write to the
/// residual. Only blocks do: what leaves a stem or a head is added to nothing.
[[nodiscard]] std::set<NodeId> residualWriters(const Graph& block);

/// What a tied head shares: the stem's first token embedding and the head's last linear.
struct TiedNodes {
    NodeId embedding{};
    NodeId linear{};
};
/// nullopt where the head is not tied, or there is nothing to tie.
[[nodiscard]] std::optional<TiedNodes> tiedNodes(const Network& network);

} // namespace residua::projects
