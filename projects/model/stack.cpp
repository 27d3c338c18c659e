// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/stack.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::projects {

std::int64_t layersOf(const std::vector<StackSegment>& stack)
{
    std::int64_t layers = 0;
    for (const StackSegment& segment : stack) {
        // Small enough that twice as many modules and the final output can still be counted.
        const std::int64_t room = std::numeric_limits<std::int64_t>::max() / 4 - layers;
        layers += std::clamp<std::int64_t>(segment.repeat, 0, room);
    }
    return layers;
}

std::int64_t risenVisits(const Loop& loop, std::int64_t step, std::int64_t steps)
{
    const auto first = std::clamp<std::int64_t>(std::llround(std::min(loop.mean, 1e6)), 1, loop.visits);
    const double share = static_cast<double>(std::max<std::int64_t>(step, 1) - 1) /
                         static_cast<double>(std::max<std::int64_t>(steps, 1));
    return std::min(first + static_cast<std::int64_t>(share * static_cast<double>(loop.visits - first + 1)),
                    loop.visits);
}

std::int64_t evaluatedVisits(const Loop& loop)
{
    const bool hasMean = loop.draw == VisitDraw::Poisson || loop.draw == VisitDraw::LogNormalPoisson;
    return hasMean && loop.mean < static_cast<double>(loop.visits) ? std::max<std::int64_t>(1, std::llround(loop.mean))
                                                                   : loop.visits;
}

std::vector<const Loop*> Stack::soundLoops() const
{
    std::vector<const Loop*> sound;
    if (loops.empty()) {
        return sound;
    }
    const std::int64_t layers = stored();
    for (const Loop& loop : loops) {
        const std::int64_t after = sound.empty() ? 0 : sound.back()->last;
        if (loop.first > after && loop.first <= loop.last && loop.last <= layers && loop.visits >= 1 &&
            loop.visits <= kMaxVisits) {
            sound.push_back(&loop);
        }
    }
    return sound;
}

bool Stack::isSound(std::size_t index) const
{
    const std::vector<const Loop*> sound = soundLoops();
    return std::ranges::find(sound, &loops.at(index)) != sound.end();
}

std::int64_t Stack::depth() const
{
    std::int64_t depth = stored();
    for (const Loop* const loop : soundLoops()) {
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
        const double more = static_cast<double>(loop->last - loop->first + 1) * static_cast<double>(loop->visits - 1);
        depth = more >= static_cast<double>(kMost - depth) ? kMost : depth + static_cast<std::int64_t>(more);
    }
    return depth;
}

std::int64_t Stack::evaluatedDepth() const
{
    std::int64_t depth = this->depth();
    for (const Loop* const loop : soundLoops()) {
        depth -= (loop->last - loop->first + 1) * (loop->visits - evaluatedVisits(*loop));
    }
    return depth;
}

LayerVisit Stack::visitAt(std::int64_t number) const
{
    std::int64_t layer = number; // as if the loops so far had one visit
    for (const Loop* const loop : soundLoops()) {
        const std::int64_t layers = loop->last - loop->first + 1;
        const std::int64_t within = layer - loop->first;
        if (within < 0) {
            break;
        }
        if (within < layers * loop->visits) {
            return loop->order == VisitOrder::Cycle
                       ? LayerVisit{loop->first + within % layers, within / layers + 1}
                       : LayerVisit{loop->first + within / loop->visits, within % loop->visits + 1};
        }
        layer -= layers * (loop->visits - 1);
    }
    return {layer, 1};
}

std::int64_t Stack::numberOf(const LayerVisit& at) const
{
    std::int64_t number = at.layer;
    for (const Loop* const loop : soundLoops()) {
        const std::int64_t layers = loop->last - loop->first + 1;
        if (at.layer < loop->first) {
            break;
        }
        if (at.layer <= loop->last) {
            return number + (loop->order == VisitOrder::Cycle
                                 ? (at.visit - 1) * layers
                                 : (at.layer - loop->first) * (loop->visits - 1) + at.visit - 1);
        }
        number += layers * (loop->visits - 1);
    }
    return number;
}

std::vector<std::int64_t> Stack::visitsOf(std::int64_t layer) const
{
    std::vector<std::int64_t> numbers;
    const Loop* const loop = loopOf(layer);
    const std::int64_t visits = layer < 1 || layer > stored() ? 0 : loop == nullptr ? 1 : loop->visits;
    for (std::int64_t visit = 1; visit <= visits; ++visit) {
        numbers.push_back(numberOf({layer, visit}));
    }
    return numbers;
}

const Loop* Stack::loopOf(std::int64_t layer) const
{
    for (const Loop* const loop : soundLoops()) {
        if (layer >= loop->first && layer <= loop->last) {
            return loop;
        }
    }
    return nullptr;
}

double depthOfStored(const Stack& stack, std::int64_t layer)
{
    const std::int64_t stored = stack.stored();
    return stored > 1 ? static_cast<double>(layer - 1) / static_cast<double>(stored - 1) : 0;
}

Stack rowStackOf(const Stack& stack)
{
    Stack rows = stack;
    for (Loop& loop : rows.loops) {
        loop.visits = loop.rows == VisitRows::Layer && loop.visits > 1 ? 1 : loop.visits;
    }
    return rows;
}

std::vector<std::int64_t> rowLayersOf(const Stack& stack)
{
    const Stack rows = rowStackOf(stack);
    std::vector<std::int64_t> layers;
    for (LayerVisit at : executionOf(stack)) {
        const Loop* const loop = rows.loopOf(at.layer);
        at.visit = loop == nullptr ? 1 : std::min(at.visit, loop->visits);
        layers.push_back(rows.numberOf(at));
    }
    return layers;
}

std::vector<LayerVisit> executionOf(const Stack& stack)
{
    std::vector<LayerVisit> execution(static_cast<std::size_t>(stack.depth()));
    for (std::size_t i = 0; i < execution.size(); ++i) {
        execution[i] = stack.visitAt(static_cast<std::int64_t>(i) + 1);
    }
    return execution;
}

bool isUsed(const std::vector<StackSegment>& stack, const std::string& block)
{
    return std::ranges::find(stack, block, &StackSegment::block) != stack.end();
}

} // namespace residua::projects
