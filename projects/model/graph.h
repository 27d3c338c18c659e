// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/objective.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace residua::projects {

/// Identifies a node within its graph; stable for the node's life and kept in the file.
enum class NodeId : std::uint32_t {};

/// A parameter of a node. A size may be a formula over the project's named sizes
/// ("4*d", "8*d/3", see expression.h), which is kept as the text the user wrote.
using ParamValue = std::variant<bool, std::int64_t, double, std::string>;

/// One operation. `params` holds only what differs from the kind's defaults.
struct Node {
    NodeId id{};
    std::string kind; ///< key of the node-kind table (node_kinds.h)
    std::string name; ///< what people read; unique within the graph
    std::map<std::string, ParamValue> params;

    bool operator==(const Node&) const = default;
};

/// A port of a node.
struct PortRef {
    NodeId node{};
    std::string port;

    auto operator<=>(const PortRef&) const = default;
};

/// From an output port to an input port. An input takes one wire, an output feeds any number.
struct Wire {
    PortRef from;
    PortRef to;

    auto operator<=>(const Wire&) const = default;
};

/// A small typed graph: the stem, the head, or the inside of a layer. What enters and leaves it
/// are nodes of kind "input" and "output", whose parameter `port` names the graph's own port.
struct Graph {
    std::vector<Node> nodes; ///< order is the user's and is kept
    std::vector<Wire> wires; ///< kept sorted

    [[nodiscard]] const Node* find(NodeId id) const;
    [[nodiscard]] Node* find(NodeId id);
    /// The lowest id above all that are in use.
    [[nodiscard]] NodeId nextId() const;

    bool operator==(const Graph&) const = default;
};

/// A named graph that layers are made of. Its input port is "input", or it has the ports
/// "q", "k", "v" and optionally "residual" that a topology can feed apart. Its output is the
/// BRANCH r(h): a block never adds its own input, the topology does.
struct Block {
    std::string name;
    std::string preset; ///< the preset it came from; empty for a user's own
    Graph graph;

    bool operator==(const Block&) const = default;
};

/// `repeat` neighbouring layers that share a definition, never weights.
struct StackSegment {
    std::string block;
    std::int64_t repeat = 1;

    bool operator==(const StackSegment&) const = default;
};

/// The deepest stack that a document may have: files and edits with a deeper one are refused.
inline constexpr std::int64_t kMaxLayers = 4096;
/// How many layers `stack` has; a negative repeat counts as none, and an absurd sum saturates.
[[nodiscard]] std::int64_t layersOf(const std::vector<StackSegment>& stack);
/// Whether a layer is made of the block of that name.
[[nodiscard]] bool isUsed(const std::vector<StackSegment>& stack, const std::string& block);

/// Which rank a weight has. A weight below its full rank is held as the product of two thin matrices, u·v, which are
/// what is trained; W ∈ R^{out×in} is then never formed.
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

/// stem → stack → head.
struct Network {
    std::int64_t width = 256; ///< d: features of every stack entry
    Graph stem;
    std::vector<Block> blocks;
    std::vector<StackSegment> stack;
    Graph head;
    bool tieHead = false; ///< the head's last linear shares the stem's embedding table
    Objective objective = Objective::NextToken;
    WeightRank rank; ///< of the blocks' weights whose nodes say nothing of their own; stem and head stay full

    [[nodiscard]] std::int64_t depth() const; ///< L, the number of layers
    /// The block of layer `layer` in 1..depth(); nullptr outside of it or for an unknown name.
    [[nodiscard]] const Block* blockOfLayer(std::int64_t layer) const;
    [[nodiscard]] const Block* findBlock(const std::string& name) const;
    [[nodiscard]] Block* findBlock(const std::string& name);

    bool operator==(const Network&) const = default;
};

} // namespace residua::projects
