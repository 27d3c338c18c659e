// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/schema/describe.h"

namespace residua::projects {

template <>
struct EnumNames<Objective> {
    static constexpr NameList<3> names{"next_token", "half_squared_error", "mean_squared_error"};
};
template <>
inline constexpr bool kInline<Node> = true;
template <>
inline constexpr std::size_t kMostOf<Node> = 1024; ///< of one graph
template <>
inline constexpr std::size_t kMostOf<Wire> = 4096;
template <>
inline constexpr std::size_t kMostOf<Block> = 256;
template <>
inline constexpr std::size_t kMostOf<StackSegment> = kMaxLayers;
template <>
struct Fields<Node> {
    static constexpr void visit(auto&& v)
    {
        v({"id", "", Need::Required}, &Node::id);
        v({"kind", "", Need::Required}, &Node::kind);
        v({"name", "", Need::Required}, &Node::name);
        v("params", &Node::params);
    }
};
template <>
struct Fields<Graph> {
    static constexpr void visit(auto&& v)
    {
        v("nodes", &Graph::nodes);
        v("wires", &Graph::wires);
    }
};
template <>
struct Fields<Block> {
    static constexpr void visit(auto&& v)
    {
        v({"name", "", Need::Required}, &Block::name);
        v("preset", &Block::preset);
        v("graph", &Block::graph);
    }
};
template <>
inline constexpr bool kInline<StackSegment> = true;
template <>
struct Fields<StackSegment> {
    static constexpr void visit(auto&& v)
    {
        v({"block", "", Need::Required}, &StackSegment::block);
        v({"repeat", "layers"}, &StackSegment::repeat);
    }
};
template <>
struct Fields<Network> {
    static constexpr void visit(auto&& v)
    {
        v({"width", "features"}, &Network::width);
        v("stem", &Network::stem);
        v("blocks", &Network::blocks);
        v("stack", &Network::stack);
        v("head", &Network::head);
        v("tie_head", &Network::tieHead);
        v("objective", &Network::objective);
    }
};

} // namespace residua::projects
