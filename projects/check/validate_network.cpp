// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/check/problems.h"
#include "projects/depth/depth_program.h"
#include "projects/depth/shared_mix.h"
#include "projects/model/places.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"

#include <algorithm>

namespace residua::projects {
namespace {

void checkObjective(const Project& project, Problems& problems)
{
    const ObjectiveTraits& objective = traitsOf(project.network.objective);
    if (objective.acts != examplesOf(project).isOfWorld()) {
        problems.error("/network/objective",
                       std::string(objective.title) + (objective.acts ? " needs a world to act in as the data"
                                                                      : " is not of a world; expected time at goal"));
    } else if (objective.acts && project.network.ownLoss == OwnLoss::Trained) {
        problems.error("/network/objective",
                       "is measured by acting, but own_loss is trained; expected own_loss measured, and losses that "
                       "train the tower");
    } else if (!fits(objective, examplesOf(project))) {
        const ExampleField target = examplesOf(project).target();
        const std::string needs = objective.diffuses                        ? "labelled pictures or latents"
                                  : objective.target == Element::Real       ? "target vectors"
                                  : objective.targetOf == TargetOf::Example ? "labels"
                                                                            : "token sequences";
        const std::string has = !target.isTokens()              ? "vectors"
                                : target.shape.dims.size() == 1 ? "labelled"
                                                                : "token sequences";
        problems.error("/network/objective", std::string(objective.title) + " needs " + needs + ", the data is " + has);
    }
}

/// Warns of attention that hides from a hidden token what follows it.
void checkDirection(const Project& project, Problems& problems)
{
    if (traitsOf(project.network.objective).targetOf != TargetOf::Hidden) {
        return;
    }
    for (const Block* const block : usedBlocks(project.network)) {
        for (const Node& node : block->graph.nodes) {
            const auto causal = node.params.find("causal");
            const bool isCausal = causal == node.params.end() || causal->second == ParamValue(true);
            if (roleOf(node) == NodeRole::Attention && isCausal) {
                problems.warning("/network/objective", "a hidden token is predicted from earlier ones only: " +
                                                           placeOf(GraphRef::block(block->name), node) + " is causal");
                return;
            }
        }
    }
}

void checkBlocks(const Project& project, const Shape& entry, Problems& problems)
{
    const Network& network = project.network;
    const std::vector<const Block*> used = usedBlocks(network);
    for (std::size_t i = 0; i < network.blocks.size(); ++i) {
        const Block& block = network.blocks[i];
        const std::string path = pointerOfBlock(i);
        if (network.findBlock(block.name) != &block) {
            problems.error(path + "/name", "block " + block.name, "the name is taken by another block");
            continue;
        }
        if (block.name.empty()) {
            problems.error(path + "/name", "network · blocks", "block " + std::to_string(i + 1) + " has no name");
        }
        const bool isUsed = std::ranges::find(used, &block) != used.end();
        Problems ofUnused(project); // problems of an unused block do not prevent training
        validateGraph(project, GraphRef::block(block.name), entry, isUsed ? problems : ofUnused);
        for (const Problem& problem : ofUnused.take()) {
            problems.warning(problem.path, problem.place, problem.message);
        }
        if (!isUsed) {
            problems.warning(path, "block " + block.name, "no layer uses it");
        }
    }
}

/// Checks the streams that a loop's visits read, and the norm at its exit.
void checkExit(const Network& network, const Loop& loop, const std::string& path, Problems& problems)
{
    const Wiring& wiring = network.stack().topology.wiring;
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    const auto* const gate = std::get_if<BranchGate>(&wiring);
    const bool readsEarlier = (mix != nullptr && !isPlainResidual(*mix)) ||
                              (gate != nullptr && traitsOf(gate->gate).maps == LaurelMaps::Previous);
    if (loop.streams != LoopStreams::None && readsEarlier) {
        problems.error(path + "/streams", "keeps several streams between visits, but layers of the topology " +
                                              network.stack().topology.preset +
                                              " read those of earlier visits; expected plain, or a gate without "
                                              "earlier activations, such as post-norm");
    }
    if (loop.streams != LoopStreams::None && loop.gradientVisits > 0 && loop.gradientVisits < loop.visits) {
        problems.error(path + "/gradient_visits", "leaves visits without gradient, whose reads and writes of streams "
                                                  "would never train; expected 0 with streams between visits");
    }
    if (loop.norm == LoopNorm::Head && headNormOf(network) == nullptr) {
        problems.error(path + "/norm", "is the head's, but no RMS norm with weights of its own reads the head's input; "
                                       "expected such a norm, or \"exit\"");
    }
}

/// Checks the probability of a visit to be the last one.
void checkExitGate(const Network& network, const Loop& loop, const std::string& path, Problems& problems)
{
    if (!loop.exitGate) {
        return;
    }
    if (loop.last != network.stack().stored()) {
        problems.error(path + "/exit_gate", "lets tokens leave before the last layer, " +
                                                std::to_string(network.stack().stored()) +
                                                "; expected a loop that ends with it");
    }
    if (loop.visits < 2) {
        problems.error(path + "/visits",
                       "is 1 in a loop with an exit gate, whose tokens cannot leave earlier; expected "
                       "at least 2");
    }
    if (loop.draw != VisitDraw::All) {
        problems.error(path + "/draw",
                       "makes fewer visits in some steps, but an exit gate weighs all of them; expected "
                       "\"all\", or a loop without an exit gate");
    }
}

/// Checks that the residual can change between the visits of a loop.
void checkState(const Network& network, std::size_t index, Problems& problems)
{
    const Loop& loop = network.stack().loops[index];
    const std::string path = "/network/loops/" + std::to_string(index);
    if (changesState(loop) && !hasOneResidual(network.stack().topology.wiring)) {
        problems.error(path,
                       "changes the residual between visits, but the topology " + network.stack().topology.preset +
                           " has no single residual; expected a loop without injection, visit embedding, gates and "
                           "norm, or a topology with full outputs, such as plain, ancre or denseformer");
    }
    if (changesState(loop) && loop.order == VisitOrder::InPlace && loop.last > loop.first) {
        problems.error(path + "/order", "visits each of several layers in place, and changes the residual between "
                                        "visits; expected one loop for each layer, or the order \"cycle\"");
    }
    const Wiring& wiring = network.stack().topology.wiring;
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    const std::string needed =
        std::holds_alternative<Concatenation>(wiring) ? "expected a topology without weights between layers"
        : mix == nullptr || loop.rows != VisitRows::Layer || isPlainResidual(*mix) ? ""
                                                                                   : neededToShare(network.stack());
    if (loop.rows == VisitRows::Layer && !needed.empty()) {
        problems.error(path + "/rows", "shares the weights of the topology " + network.stack().topology.preset +
                                           " over visits, but a later visit reads more sources; " + needed +
                                           ", or weights of each visit");
    }
    if (loop.rows == VisitRows::Layer && loop.draw != VisitDraw::All && sharesMix(network.stack())) {
        problems.error(path + "/draw",
                       "makes fewer visits in some steps, whose mixes would read entries of visits that "
                       "are not made; expected \"all\" with shared weights of mixes");
    }
    if (loop.adapterRank > 0 && loop.draw != VisitDraw::All) {
        problems.error(path + "/draw", "makes fewer visits in some steps, in which what the others add to the matrices "
                                       "would not train; expected \"all\", or adapter_rank 0");
    }
    if (loop.adapterRank > 0 && loop.gradientVisits > 0 && loop.gradientVisits < loop.visits) {
        problems.error(path + "/gradient_visits", "leaves visits without gradient, whose own matrices would never "
                                                  "train; expected 0, or adapter_rank 0");
    }
    checkExit(network, loop, path, problems);
    checkExitGate(network, loop, path, problems);
    if (loop.start == LoopStart::Noise &&
        (loop.injection == LoopInjection::None || loop.streams != LoopStreams::None)) {
        problems.error(path + "/start", loop.injection == LoopInjection::None
                                            ? "starts as noise and never reads the loop's input; expected an "
                                              "injection, or the start \"input\""
                                            : "starts several streams as noise; expected one state, or the start "
                                              "\"input\"");
    }
    if (loop.gradientVisits > 0 && loop.injection == LoopInjection::None && loop.gradientVisits < loop.visits) {
        problems.warning(path + "/gradient_visits", "the layers before the loop get no gradient, because visits "
                                                    "without gradient do not read the loop's input again; an injection "
                                                    "lets them learn");
    }
}

void checkStack(const Network& network, Problems& problems)
{
    problems.checkRanges("/network/stack");
    if (network.stack().segments.empty()) {
        problems.error("/network/stack", "has no layers");
    }
    for (std::size_t i = 0; i < network.stack().segments.size(); ++i) {
        const StackSegment& segment = network.stack().segments[i];
        const std::string path = "/network/stack/" + std::to_string(i);
        if (!network.findBlock(segment.block)) {
            problems.error(path + "/block", "there is no block " + segment.block);
        }
    }
    problems.checkRanges("/network/loops");
    for (std::size_t i = 0; i < network.stack().loops.size(); ++i) {
        const Loop& loop = network.stack().loops[i];
        if (!network.stack().isSound(i) && loop.visits >= 1 && loop.visits <= kMaxVisits) {
            problems.error("/network/loops/" + std::to_string(i),
                           "visits layers " + std::to_string(loop.first) + " to " + std::to_string(loop.last) +
                               ", expected layers of the " + std::to_string(network.stack().stored()) +
                               " that the stack has, after those of the loop before");
        }
        checkState(network, i, problems);
    }
    if (network.depth() > kMaxLayers) {
        problems.error("/network/stack", "got " + std::to_string(network.depth()) + " layers, expected at most " +
                                             std::to_string(kMaxLayers));
    }
}

/// The table is [vocabulary, features] and the head's weight [output, input]. Tied, they are one matrix.
void checkTie(const Project& project, Problems& problems)
{
    if (!project.network.tieHead) {
        return;
    }
    const std::string path = "/network/tie_head";
    const std::optional<TiedNodes> tied = tiedNodes(project.network);
    if (!tied) {
        problems.error(path, "expected a token_embedding in the stem and a linear in the head to share a table");
        return;
    }
    const ResolvedGraph stem = resolveGraph(project, GraphRef::stem());
    const ResolvedGraph head = resolveGraph(project, GraphRef::head());
    const auto embedding = std::ranges::find(stem.nodes, tied->embedding, &ResolvedNode::id);
    const auto linear = std::ranges::find(head.nodes, tied->linear, &ResolvedNode::id);
    if (embedding == stem.nodes.end() || linear == head.nodes.end()) {
        return;
    }
    const std::int64_t rows = paramInt(embedding->params, "vocab");
    const std::int64_t width = embedding->out[0].features();
    const std::int64_t read = linear->in[0].features();
    const std::int64_t logits = linear->out[0].features();
    if (rows != logits || width != read) {
        const auto pair = [](std::int64_t a, std::int64_t b) { return std::to_string(a) + " × " + std::to_string(b); };
        problems.error(path, "the table is " + pair(rows, width) + ", the head's weight " + pair(logits, read));
    }
}

} // namespace

void validateNetwork(const Project& project, Problems& problems)
{
    const Network& network = project.network;
    problems.checkRanges("/network/width");
    problems.checkRanges("/network/rank");
    problems.checkRanges("/network/label_smoothing");
    problems.checkRanges("/network/loss_weight");
    if (sizesOf(project)) {
        const ExampleSchema examples = examplesOf(project);
        const Shape entry = stackShapeOf(project);
        validateGraph(project, GraphRef::stem(), entry, problems);
        checkBlocks(project, entry, problems);
        checkStack(network, problems);
        validateGraph(project, GraphRef::head(), examples.output(), problems);
        checkTie(project, problems);
    } else {
        checkStack(network, problems);
    }
    if (network.ownLoss != OwnLoss::None) {
        checkObjective(project, problems);
        checkDirection(project, problems);
    }
}

} // namespace residua::projects
