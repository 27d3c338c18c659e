// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"
#include "projects/schema/describe.h"

#include <iterator>

namespace residua::projects {

template <>
struct Choices<Objective> {
    static constexpr auto all = choicesByTraits<Objective, std::size(kObjectives)>();
};
template <>
inline constexpr bool kInline<Node> = true;
template <>
inline constexpr std::size_t kMostOf<Node> = 1024; ///< in one graph
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
        v({"id", "id", "What wires call the node by.", {.need = Need::Required}}, &Node::id);
        v({"kind", "kind", "What the node computes: a key of the table of kinds.", {.need = Need::Required}},
          &Node::kind);
        v({"name", "name", "What people call the node; unique within the graph.", {.need = Need::Required}},
          &Node::name);
        v({"params", "parameters", "Settings of the node that are not its kind's defaults."}, &Node::params);
    }
};
template <>
inline constexpr bool kHasOwnEdits<Graph> = true;
template <>
inline constexpr bool kHasOwnEdits<std::vector<Block>> = true;
template <>
struct Fields<Graph> {
    static constexpr void visit(auto&& v)
    {
        v({"nodes", "nodes", "The operations of the graph.", {.item = "node"}}, &Graph::nodes);
        v({"wires", "wires", "What feeds what: \"node.port > node.port\".", {.item = "wire"}}, &Graph::wires);
    }
};
template <>
struct Fields<Block> {
    static constexpr void visit(auto&& v)
    {
        v({"name", "name", "What layers call the block.", {.need = Need::Required}}, &Block::name);
        v({"preset", "preset", "The preset that the block came from; empty for one of your own."}, &Block::preset);
        v({"graph", "graph", "What the block computes."}, &Block::graph);
    }
};
template <>
inline constexpr bool kInline<StackSegment> = true;
template <>
struct Fields<StackSegment> {
    static constexpr void visit(auto&& v)
    {
        v({"block", "block", "What the layers are made of.", {.need = Need::Required}}, &StackSegment::block);
        v({"repeat",
           "layers",
           "Neighbouring layers of this block.",
           {.unit = "layers", .range = Range::within(1, kMaxLayers), .paper = "8, 12, 24, 24 (LLaMA 60M to 1B)"}},
          &StackSegment::repeat);
    }
};
template <>
inline constexpr bool kInline<FullRank> = true;
template <>
inline constexpr bool kInline<FixedRank> = true;
template <>
inline constexpr bool kInline<RankScale> = true;
template <>
struct Fields<FullRank> {
    static constexpr void visit(auto&&) {}
};
template <>
struct Fields<FixedRank> {
    static constexpr void visit(auto&& v)
    {
        v({"rank",
           "rank",
           "Inner features of each factored weight; at most its smaller side.",
           {.range = Range::within(1, 1'000'000)}},
          &FixedRank::rank);
    }
};
template <>
struct Fields<RankScale> {
    static constexpr void visit(auto&& v)
    {
        v({"scale",
           "rank scale",
           "The rank as a share of each weight's smaller side.",
           {.range = Range::halfOpenLow(0, 1), .paper = "0.05, 0.1, 0.15, 0.2 (NLRA)"}},
          &RankScale::scale);
    }
};
template <>
struct Choices<WeightRank> {
    static constexpr Choice all[] = {
        {"full", "full"}, {"number", "a number"}, {"scale", "a share of the smaller side"}};
};
template <>
inline constexpr std::size_t kDescribedElsewhere<Network> = 1;
static_assert(memberCount<Stack>() == 4, "each field of a stack has a line below or in describe_project.h");
template <>
struct Fields<Network> {
    static bool smooths(const Network& network) { return traitsOf(network.objective).smooths; }

    static constexpr void visit(auto&& v)
    {
        v(
            {"width",
             "width",
             "Features of every stack entry; formulas call it d.",
             {.unit = "features", .range = Range::within(1, 1'000'000)}},
            [](auto&& network) -> auto& { return network.stack().width; });
        v({"stem", "stem", "The graph that makes the stack's input."}, &Network::stem);
        v({"blocks", "blocks", "The graphs that layers are made of.", {.item = "block"}}, &Network::blocks);
        v(
            {"stack", "stack", "The layers in their order, as segments of one block each.", {.item = "segment"}},
            [](auto&& network) -> auto& { return network.stack().segments; });
        v({"head", "head", "The graph that makes the objective's argument."}, &Network::head);
        v({"tie_head", "tied head", "The head's last linear shares the stem's embedding table."}, &Network::tieHead);
        v({"objective", "objective", "What is minimised.", {.paper = "half squared error (ANCRe §3)"}},
          &Network::objective);
        v({"label_smoothing",
           "label smoothing",
           "Share of each target that is spread over all classes alike.",
           {.range = Range::halfOpen(0, 1), .paper = "0.1 (NLRA)", .where = when<smooths>}},
          &Network::labelSmoothing);
        v({"rank",
           "rank of weights",
           "Below full, each weight of the blocks is held and trained as two thin matrices; nodes may have their own.",
           {.paper = "a share (NLRA)"}},
          &Network::rank);
    }
};

} // namespace residua::projects
