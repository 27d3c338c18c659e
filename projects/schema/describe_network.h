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
inline constexpr bool kInline<Loop> = true;
template <>
inline constexpr std::size_t kMostOf<Loop> = kMaxLayers;
template <>
struct Choices<VisitOrder> {
    static constexpr Choice all[] = {{"cycle", "all layers in turn"}, {"in_place", "each layer several times"}};
};
template <>
struct Choices<LoopInjection> {
    static constexpr Choice all[] = {
        {"none", "none"}, {"add", "add the loop's input"}, {"linear", "linear map of state and loop's input"}};
};
template <>
struct Choices<LoopStart> {
    static constexpr Choice all[] = {{"input", "the loop's input"}, {"noise", "noise"}};
};
template <>
struct Choices<LoopNorm> {
    static constexpr Choice all[] = {{"none", "none"},
                                     {"visits", "after each visit"},
                                     {"exit", "after the last visit"},
                                     {"head", "after the last visit, by the head's norm"}};
};
template <>
struct Choices<LoopStreams> {
    static constexpr Choice all[] = {{"none", "none"}, {"lanes", "lanes"}, {"gated", "gated by their content"}};
};
template <>
struct Choices<VisitRows> {
    static constexpr Choice all[] = {{"visit", "of each visit"}, {"layer", "shared by the visits"}};
};
template <>
struct Choices<VisitDraw> {
    static constexpr Choice all[] = {{"all", "all visits"},
                                     {"uniform", "uniform"},
                                     {"poisson", "Poisson"},
                                     {"rising", "rising"},
                                     {"log_normal_poisson", "log-normal Poisson"}};
};
template <>
struct Fields<Loop> {
    static bool hasMean(const Loop& loop) { return loop.draw != VisitDraw::All && loop.draw != VisitDraw::Uniform; }
    static bool hasStreams(const Loop& loop) { return loop.streams != LoopStreams::None; }
    static bool injects(const Loop& loop) { return loop.injection != LoopInjection::None; }
    static bool isGated(const Loop& loop) { return loop.streams == LoopStreams::Gated; }

    static constexpr void visit(auto&& v)
    {
        v({"first", "first layer", "Where the loop begins, as a stored layer from 1.", {.need = Need::Required}},
          &Loop::first);
        v({"last", "last layer", "Where the loop ends.", {.need = Need::Required}}, &Loop::last);
        v({"visits",
           "visits",
           "How often a pass visits the layers, with the same weights.",
           {.range = Range::within(1, kMaxVisits), .paper = "3 (Hyperloop), 4 (Ouro), 6 (Universal Transformer)"}},
          &Loop::visits);
        v({"order", "order", "The order in which the layers are visited."}, &Loop::order);
        v({"injection",
           "injection",
           "What visits add to their input from the loop's input.",
           {.paper = "linear (Huginn)"}},
          &Loop::injection);
        v({"start",
           "state at first",
           "What the first visit reads beside an injection: the loop's input, or truncated normal noise.",
           {.paper = "noise (Huginn)", .where = when<injects>}},
          &Loop::start);
        v({"embedding",
           "visit embedding",
           "Each visit adds a learned vector of its own to its input, or with gated streams to its output.",
           {.paper = "on (Universal Transformer, Hyperloop)"}},
          &Loop::embedding);
        v({"gate", "visit gate", "Each visit ends with a learned share of its change, for each feature."}, &Loop::gate);
        v({"norm",
           "norm",
           "Where the state passes a norm with a gain.",
           {.paper = "after each visit (Ouro), the head's (Huginn)"}},
          &Loop::norm);
        v({"exit_gate",
           "exit gate",
           "After each visit, a learned probability that it is the last one weighs the losses of the visits.",
           {.paper = "on (Ouro)", .inFiles = InFiles::IfSet}},
          &Loop::exitGate);
        v({"rows",
           "wiring's weights",
           "Whether gates, norms and streams of the topology have weights for each visit.",
           {.paper = "shared (Huginn)"}},
          &Loop::rows);
        v({"streams",
           "streams between visits",
           "Visits read a mix of several states and write to all of them; the layers inside keep one residual.",
           {.paper = "gated (Hyperloop)"}},
          &Loop::streams);
        v({"stream_count",
           "number of streams",
           "States that are kept between visits.",
           {.range = Range::within(2, 64), .paper = "4 (Hyperloop), 2 lanes", .where = when<hasStreams>}},
          &Loop::streamCount);
        v({"keep",
           "kept share",
           "The share of a gated stream that a visit keeps at the start; near 0 the loop starts as one without "
           "streams.",
           {.range = Range::within(0.001, 0.999), .where = when<isGated>}},
          &Loop::keep);
        v({"scale",
           "branch factor",
           "Factor of the branches of the loop's layers.",
           {.range = Range::moreThan(0), .paper = "1/R (SMELT)"}},
          &Loop::scale);
        v({"draw",
           "visits of a step",
           "How many visits a training step makes, one number for the whole step.",
           {.paper = "log-normal Poisson (Huginn), Poisson (Parcae)"}},
          &Loop::draw);
        v({"mean",
           "mean of visits",
           "Mean of the drawn number, which evaluations make, rounded; or the first number if it rises.",
           {.range = Range::within(1, kMaxVisits), .paper = "33 (Huginn), 8 (Parcae)", .where = when<hasMean>}},
          &Loop::mean);
        v({"gradient_visits",
           "visits with gradient",
           "Only so many last visits of a step have a gradient; 0: all.",
           {.range = Range::within(0, kMaxVisits), .paper = "8 (Huginn), 4 (Parcae)"}},
          &Loop::gradientVisits);
        v({"adapter_rank",
           "rank of visits' products",
           "Each visit adds a product of two matrices of this rank to each matrix inside the loop (LoRA); 0: none.",
           {.range = Range::within(0, kMostAdapterRank), .paper = "4 to 32 (Hyperloop)", .inFiles = InFiles::IfSet}},
          &Loop::adapterRank);
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
struct Choices<OwnLoss> {
    static constexpr Choice all[] = {{"trained", "trained"}, {"measured", "measured only"}, {"none", "none"}};
};

/// The lines of a network, which a document has alone or as a further tower.
template <class Owner>
struct NetworkLines {
    template <class T>
    static constexpr auto& of(T& owner)
    {
        if constexpr (requires { owner.network; }) {
            return owner.network;
        } else {
            return owner;
        }
    }
    static bool hasObjective(const Owner& owner) { return of(owner).ownLoss != OwnLoss::None; }
    static bool isTrained(const Owner& owner) { return of(owner).ownLoss == OwnLoss::Trained; }
    static bool smooths(const Owner& owner) { return hasObjective(owner) && traitsOf(of(owner).objective).smooths; }

    static constexpr void visit(auto&& v)
    {
        v(
            {"width",
             "width",
             "Features of every stack entry; formulas call it d.",
             {.unit = "features", .range = Range::within(1, 1'000'000)}},
            [](auto&& owner) -> auto& { return of(owner).stack().width; });
        v(
            {"stem", "stem", "The graph that makes the stack's input."},
            [](auto&& owner) -> auto& { return of(owner).stem; });
        v(
            {"blocks", "blocks", "The graphs that layers are made of.", {.item = "block"}},
            [](auto&& owner) -> auto& { return of(owner).blocks; });
        v(
            {"stack", "stack", "The layers in their order, as segments of one block each.", {.item = "segment"}},
            [](auto&& owner) -> auto& { return of(owner).stack().segments; });
        v(
            {"loops", "loops", "Layers that a pass visits several times with the same weights.", {.item = "loop"}},
            [](auto&& owner) -> auto& { return of(owner).stack().loops; });
        v(
            {"head", "head", "The graph that makes the objective's argument."},
            [](auto&& owner) -> auto& { return of(owner).head; });
        v(
            {"tie_head", "tied head", "The head's last linear shares the stem's embedding table."},
            [](auto&& owner) -> auto& { return of(owner).tieHead; });
        v(
            {"objective",
             "objective",
             "What is minimised.",
             {.paper = "half squared error (ANCRe §3)", .where = when<hasObjective>}},
            [](auto&& owner) -> auto& { return of(owner).objective; });
        v(
            {"label_smoothing",
             "label smoothing",
             "Share of each target that is spread over all classes alike.",
             {.range = Range::halfOpen(0, 1), .paper = "0.1 (NLRA)", .where = when<smooths>}},
            [](auto&& owner) -> auto& { return of(owner).labelSmoothing; });
        v(
            {"rank",
             "rank of weights",
             "Below full, each weight of the blocks is held and trained as two thin matrices; nodes may have their "
             "own.",
             {.paper = "a share (NLRA)"}},
            [](auto&& owner) -> auto& { return of(owner).rank; });
        v(
            {"name", "name", "What other towers and losses call its values by.", {.inFiles = InFiles::IfSet}},
            [](auto&& owner) -> auto& { return of(owner).name; });
        v(
            {"input",
             "input",
             "What the stem reads: a value of another tower, such as encoder.states; empty: the examples' input.",
             {.inFiles = InFiles::IfSet}},
            [](auto&& owner) -> auto& { return of(owner).input; });
        v(
            {"weights",
             "weights of",
             "The tower whose weights it uses by their names, on other values; empty: it has weights of its own.",
             {.inFiles = InFiles::IfSet}},
            [](auto&& owner) -> auto& { return of(owner).weights; });
        v(
            {"frozen", "frozen", "No loss trains its weights.", {.inFiles = InFiles::IfSet}},
            [](auto&& owner) -> auto& { return of(owner).frozen; });
        v(
            {"own_loss",
             "own loss",
             "Whether its objective, on the examples' target, is trained.",
             {.inFiles = InFiles::IfSet}},
            [](auto&& owner) -> auto& { return of(owner).ownLoss; });
        v(
            {"loss_weight",
             "weight of its objective",
             "Factor of its objective in the loss.",
             {.range = Range::moreThan(0), .inFiles = InFiles::IfSet, .where = when<isTrained>}},
            [](auto&& owner) -> auto& { return of(owner).lossWeight; });
    }
};
template <>
inline constexpr std::size_t kDescribedElsewhere<Network> = 14;
static_assert(memberCount<Stack>() == 5, "each field of a stack has a line above or in describe_project.h");
template <>
struct Fields<Network> : NetworkLines<Network> {
};

} // namespace residua::projects
