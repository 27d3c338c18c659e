// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/base/text.h"
#include "projects/model/objective.h"
#include "projects/model/stack.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace residua::projects {

/// Identifies a node within its graph; stable for the node's life and kept in the file.
enum class NodeId : std::uint32_t {};

/// A parameter of a node. A size may be a formula over the project's named sizes ("4*d", "8*d/3", see expression.h),
/// which is kept as the user's text.
using ParamValue = std::variant<bool, std::int64_t, double, std::string>;

/// One operation. `params` holds only the values that differ from the kind's defaults.
struct Node {
    NodeId id{};
    std::string kind; ///< key of the node-kind table (node_kinds.h)
    std::string name; ///< the name for people; unique within the graph
    std::map<std::string, ParamValue> params;

    bool operator==(const Node&) const = default;
};

/// A port of a node.
struct PortRef {
    NodeId node{};
    std::string port;

    auto operator<=>(const PortRef&) const = default;
};

/// A connection from an output port to an input port. An input has at most one wire; an output has any number.
struct Wire {
    PortRef from;
    PortRef to;

    auto operator<=>(const Wire&) const = default;
};

/// A small typed graph: the stem, the head, or the inside of a layer. Its ports are nodes of kind "input" and "output",
/// whose parameter `port` names the port of the graph.
struct Graph {
    std::vector<Node> nodes; ///< in the user's order
    std::vector<Wire> wires; ///< sorted

    [[nodiscard]] const Node* find(NodeId id) const;
    [[nodiscard]] Node* find(NodeId id);
    /// Returns an id above all ids in use.
    [[nodiscard]] NodeId nextId() const;

    bool operator==(const Graph&) const = default;
};

/// A named graph that layers are made of. Its input port is "input", or it has the ports "q", "k", "v" and optionally
/// "residual", which a topology can feed separately. Its output is the BRANCH r(h): a block never adds its own input,
/// the topology does.
struct Block {
    std::string name;
    std::string preset; ///< the preset that it was made from; empty if the user made it
    Graph graph;

    bool operator==(const Block&) const = default;
};

/// The rank of a weight. A weight below full rank is stored and trained as the product of two thin matrices, u·v; W ∈
/// R^{out×in} is never formed.
struct FullRank {
    bool operator==(const FullRank&) const = default;
};
struct FixedRank {
    std::int64_t rank = 8;
    bool operator==(const FixedRank&) const = default;
};
/// The rank as a share of the weight's smaller side (NLRA, section 4).
struct RankScale {
    double scale = 0.25;
    bool operator==(const RankScale&) const = default;
};
using WeightRank = std::variant<FullRank, FixedRank, RankScale>;

/// Whether a tower's own objective, which compares its head's output with the data's target, is trained.
enum class OwnLoss {
    Trained,  ///< times Network::lossWeight, as a part of the loss
    Measured, ///< evaluated only
    None,     ///< the head's output has no target of the data
};

/// The name of a document's first tower unless it has another one.
inline constexpr const char* kFirstTower = "network";

/// A tower: stem → stack → head. Other towers read its values `<name>.states`, the output of the stack, and
/// `<name>.output`, that of the head.
struct Network {
    std::string name = kFirstTower; ///< unique in the document
    std::string input;              ///< what the stem reads: a value of another tower; empty: the examples' input
    std::string weights; ///< the tower whose weights it uses by their names, instead of its own; empty: its own
    bool frozen = false; ///< if true, no loss trains its parameters
    OwnLoss ownLoss = OwnLoss::Trained;
    double lossWeight = 1; ///< factor of its trained objective
    Graph stem;
    std::vector<Block> blocks;
    Stack only; ///< reached through stack()
    Graph head;
    bool tieHead = false; ///< if true, the head's last linear layer shares the stem's embedding table
    Objective objective = Objective::NextToken;
    double labelSmoothing = 0; ///< the share of a label's target that is spread over all classes
    WeightRank rank;           ///< rank of the blocks' weights whose nodes set no rank; stem and head keep full rank

    [[nodiscard]] Stack& stack() { return only; }
    [[nodiscard]] const Stack& stack() const { return only; }
    [[nodiscard]] std::int64_t depth() const { return stack().depth(); } ///< L, the number of executed layers
    /// Returns the block of executed layer `layer` in 1..depth(); null for any other layer or an unknown block name.
    [[nodiscard]] const Block* blockOfLayer(std::int64_t layer) const;
    /// Returns the block of stored layer `layer`; null as above.
    [[nodiscard]] const Block* blockOfStored(std::int64_t layer) const;
    [[nodiscard]] const Block* findBlock(const std::string& name) const;
    [[nodiscard]] Block* findBlock(const std::string& name);

    bool operator==(const Network&) const = default;
};

// The short text forms of small values in files and messages.

[[nodiscard]] std::string textOf(NodeId id);             ///< "3"
[[nodiscard]] std::string textOf(const Shortcut& value); ///< "2:5"
[[nodiscard]] std::string textOf(const Wire& value);     ///< "3.out > 5.in"

/// Parse exactly the form that textOf() writes. Any other text gives nullopt.
[[nodiscard]] std::optional<NodeId> nodeIdFrom(std::string_view text);
[[nodiscard]] std::optional<Shortcut> shortcutFrom(std::string_view text);
[[nodiscard]] std::optional<Wire> wireFrom(std::string_view text);

/// Parses shortcuts joined by "+": "0:2" is one shortcut, "i:i+3" is all that span three layers, "cascaded" is "i:i+1".
/// L is the last layer: "0:L-1". Layers are 0 (the input) to `depth`. The result is sorted and unique. The error has no
/// place; its message lists the accepted forms.
[[nodiscard]] Result<std::vector<Shortcut>> shortcutsFrom(std::string_view text, std::int64_t depth);

} // namespace residua::projects
