// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/visited_layers.h"

#include "projects/base/text.h"
#include "projects/model/topology.h"
#include "projects/pytorch/visit_products.h"

#include <algorithm>

namespace residua::projects {
namespace {

constexpr std::int64_t kMissing = -1; ///< a layer that has not begun to train

/// Lists the layers in the order of their visits. Returns an error if layers run after a missing one.
Status orderLayers(const Stack& stack, VisitedLayers& visited)
{
    for (std::size_t i = 0; i < visited.executed.size(); ++i) {
        ExportedLayer& layer = visited.executed[i];
        const LayerVisit at = stack.visitAt(static_cast<std::int64_t>(i) + 1);
        const Loop* const loop = stack.loopOf(at.layer);
        bool isMade = true;
        if (loop != nullptr) {
            const std::int64_t made = visited.visits[static_cast<std::size_t>(loop - stack.loops.data())];
            layer.factor *= loop->scale;
            isMade = at.visit <= std::max<std::int64_t>(made, 1);
        }
        layer.runs &= isMade;
        visited.order.push_back(layer.runs ? at.layer : isMade ? kMissing : 0);
    }
    std::vector<std::int64_t>& order = visited.order;
    const auto missing = std::ranges::find(order, kMissing);
    if (missing == order.begin() || std::any_of(missing, order.end(), [](std::int64_t at) { return at > 0; })) {
        return Error{"schedule", "leaves out layers before the last that runs; expected the first ones of the stack"};
    }
    if (missing != order.end()) {
        order.erase(missing, order.end());
        while (order.back() == 0) {
            order.pop_back(); // visits after the last layer that has begun to train
        }
    }
    visited.stored = *std::ranges::max_element(order);
    return Done{};
}

/// Checks the loops that change the residual, and the weights that visits share.
Status checkLoops(const Stack& stack, const VisitedLayers& visited)
{
    if (visited.present() < stack.depth() && std::ranges::any_of(stack.loops, changesState)) {
        return Error{"/network/loops", "changes the residual between visits, some of which have not begun to train; "
                                       "expected a step after the network has grown"};
    }
    if (std::ranges::find(stack.loops, LoopStart::Noise, &Loop::start) != stack.loops.end()) {
        return Error{"/network/loops", "starts as noise of this program's generator, which is not exported; expected "
                                       "the start \"input\""};
    }
    const auto* const gate = std::get_if<BranchGate>(&stack.topology.wiring);
    const bool sharesRows = rowStackOf(stack).depth() < stack.depth();
    if (sharesRows && gate != nullptr &&
        (gate->gate == BranchGateKind::ValueResidual || traitsOf(gate->gate).maps == LaurelMaps::Previous)) {
        return Error{"/network/loops", "shares the weights of the topology " + stack.topology.preset +
                                           " over visits, which is not exported; expected weights of each visit"};
    }
    return Done{};
}

/// Checks that the code can express what the visits of a layer do differently.
Status checkVisits(const Stack& stack, const VisitedLayers& visited)
{
    for (std::size_t i = 0; i < visited.order.size(); ++i) {
        const std::int64_t layer = visited.order[i];
        if (layer > 0 && visited.executed[i].factor != visited.factorOf(stack, layer)) {
            return Error{"schedule", "scales the visits of layer " + std::to_string(layer) +
                                         " by different factors, which is not exported; expected one factor, or "
                                         "layers of their own (residua-cli untie)"};
        }
    }
    const Topology& topology = stack.topology;
    const auto* const mix = std::get_if<DepthMix>(&topology.wiring);
    const bool sums =
        mix == nullptr || isRunningSum(*mix) || mix->entry == StackEntry::Full ||
        (mix->feeds == MixFeeds::LayerInput && !traitsOf(mix->weight).attends && !traitsOf(mix->weight).readsNewest);
    if (visited.leavesOut() && (!sums || sitesOf(topology.wiring) == MixSites::Ffn)) {
        return Error{"/network/loops", "an evaluation makes fewer visits than the topology " + topology.preset +
                                           " has rows for, which is not exported; expected the draw \"all\", or as "
                                           "many visits as the mean of the drawn ones"};
    }
    return Done{};
}

} // namespace

bool VisitedLayers::leavesOut() const
{
    return std::ranges::find(order, 0) != order.end();
}

bool VisitedLayers::scales() const
{
    return std::any_of(executed.begin(), executed.begin() + present(),
                       [](const ExportedLayer& layer) { return layer.factor != 1; });
}

double VisitedLayers::factorOf(const Stack& stack, std::int64_t layer) const
{
    return executed.at(static_cast<std::size_t>(stack.numberOf({layer, 1}) - 1)).factor;
}

Result<VisitedLayers> visitedLayers(const Project& project, const std::vector<ExportedLayer>& layers)
{
    const Stack& stack = project.stack();
    VisitedLayers visited;
    visited.executed = layers;
    visited.executed.resize(static_cast<std::size_t>(stack.depth()));
    for (const Loop& loop : stack.loops) {
        const auto runs = [&](std::int64_t number) {
            return visited.executed[static_cast<std::size_t>(number - 1)].runs;
        };
        visited.visits.push_back(layers.empty() ? evaluatedVisits(loop)
                                                : std::ranges::count_if(stack.visitsOf(loop.first), runs));
    }
    RESIDUA_TRY(orderLayers(stack, visited));
    for (const auto check : {checkLoops, checkVisits}) {
        RESIDUA_TRY(check(stack, visited));
    }
    return visited;
}

void writeLayers(PythonText& out, const Stack& stack, const VisitedLayers& layers,
                 const std::map<std::string, std::string>& classOf)
{
    const bool scales = layers.scales();
    if (scales) {
        std::vector<std::string> factors;
        for (std::int64_t layer = 1; layer <= layers.stored; ++layer) {
            factors.push_back(pythonReal(layers.factorOf(stack, layer)));
        }
        out.comment("What each layer's branch is multiplied by.");
        out.line("factors = [" + joinedText(factors) + "]");
    }
    if (classOf.size() == 1) {
        const std::string& block = classOf.begin()->second;
        out.line("self.layers = nn.ModuleDict({str(j): " + block +
                 (scales ? "(factor) for j, factor in enumerate(factors, start=1)})"
                         : "() for j in range(1, " + std::to_string(layers.stored + 1) + ")})"));
        return;
    }
    std::string blocks;
    std::int64_t left = layers.stored;
    for (const StackSegment& segment : stack.segments) {
        const std::int64_t count = std::clamp<std::int64_t>(segment.repeat, 0, left);
        left -= count;
        if (count > 0) {
            blocks += (blocks.empty() ? "[" : " + [") + classOf.at(segment.block) + "]" +
                      (count > 1 ? " * " + std::to_string(count) : "");
        }
    }
    out.line("blocks = " + blocks);
    out.line(scales ? "made = [block(factor) for block, factor in zip(blocks, factors)]"
                    : "made = [block() for block in blocks]");
    out.line("self.layers = nn.ModuleDict({str(j): layer for j, layer in enumerate(made, start=1)})");
}

void writeOrder(PythonText& out, HelperCode& helpers, const Stack& stack, const VisitedLayers& layers)
{
    if (stack.depth() == stack.stored()) {
        return;
    }
    const std::string order = "The layers in the order in which a pass visits them";
    out.comment(order + (layers.leavesOut() ? "; 0 for visits that it does not make." : "."));
    out.line("self.order = " + repeatingText(layers.order));
    if (addsProducts(stack)) {
        helpers.use(Helper::AtVisit);
        out.line("self.visits = " + repeatingText(visitsIn(stack, layers)));
    }
}

} // namespace residua::projects
