// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schedule/kept_parts.h"

#include "projects/base/text.h"
#include "projects/model/graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace residua::projects {

namespace {

/// The mean of α(t) over steps first..last (counted from 1), by the formula of a geometric series.
double curveMean(const StageSchedule& schedule, std::int64_t steps, std::int64_t first, std::int64_t last)
{
    const double rate = schedule.curveRate / static_cast<double>(std::max<std::int64_t>(steps, 1));
    const auto count = static_cast<double>(last - first + 1);
    // Σ e^(−rate·t) over t = first..last; expm1 keeps it accurate for small rates.
    const double sum =
        rate > 0 ? std::exp(-rate * static_cast<double>(first)) * std::expm1(-rate * count) / std::expm1(-rate) : count;
    return (1 - schedule.curveFloor) * sum / count + schedule.curveFloor;
}

/// Returns the stage's always-kept layers, if the schedule uses them.
const std::vector<std::int64_t>& alwaysOf(const StageSchedule& schedule, const StageSpan& span)
{
    static const std::vector<std::int64_t> none;
    return span.isStage() && !grows(schedule) ? schedule.stages[span.stage].always : none;
}

/// Deeper layers are left out more often. With stages, layer l is kept with probability 1 − l/L·(1 − α) (Huang et al.,
/// 2016), with α such that the stage has its average length. With a curve, with 1 − (l − 1)/L·(1 − α(t)) (Zhang and He,
/// 2020, algorithm 1).
void deeperSeldomer(std::vector<double>& keep, const std::vector<bool>& always, const StageSpan& span, double alpha)
{
    const auto depth = static_cast<double>(keep.size());
    const bool curve = span.stage == StageSpan::kCurve;
    double fall = 1 - alpha;
    if (!curve) {
        double weights = 0;
        for (std::size_t l = 0; l < keep.size(); ++l) {
            weights += always[l] ? 0 : static_cast<double>(l + 1) / depth;
        }
        fall = weights > 0 ? (depth - span.averageLength) / weights : 0;
    }
    for (std::size_t l = 0; l < keep.size(); ++l) {
        const auto place = static_cast<double>(curve ? l : l + 1);
        keep[l] = always[l] ? 1 : std::clamp(1 - place / depth * fall, 0.0, 1.0);
    }
}

std::vector<double> probabilities(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth,
                                  double alpha)
{
    std::vector<double> keep(static_cast<std::size_t>(std::max<std::int64_t>(depth, 0)), 1.0);
    if (span.stage == StageSpan::kFull) {
        return keep;
    }
    std::vector<bool> always(keep.size(), false);
    for (const std::int64_t layer : alwaysOf(schedule, span)) {
        if (layer >= 1 && layer <= depth) {
            always[static_cast<std::size_t>(layer - 1)] = true;
        }
    }
    const auto kept = std::ranges::count(always, true);
    const auto others = static_cast<double>(keep.size()) - static_cast<double>(kept);
    const double length =
        span.isStage() ? schedule.stages[span.stage].averageLength : alpha * static_cast<double>(depth);
    const auto whole = std::clamp(std::round(length), 0.0, static_cast<double>(depth));
    switch (schedule.sampling) {
    case DropSampling::DeeperSeldomer:
        deeperSeldomer(keep, always, span, alpha);
        return keep;
    case DropSampling::First:
        for (std::size_t l = 0; l < keep.size(); ++l) {
            keep[l] = static_cast<double>(l) < whole ? 1 : 0;
        }
        return keep;
    case DropSampling::Bernoulli:
    case DropSampling::FixedSize:
        break;
    }
    const bool fixed = schedule.sampling == DropSampling::FixedSize && leavesOutLayers(schedule.axis);
    const double share =
        std::clamp(((fixed ? whole : length) - static_cast<double>(kept)) / std::max(others, 1.0), 0.0, 1.0);
    for (std::size_t l = 0; l < keep.size(); ++l) {
        keep[l] = always[l] ? 1 : share;
    }
    return keep;
}

KeepShares shares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth, double alpha)
{
    KeepShares kept;
    kept.layers = probabilities(schedule, span, depth, alpha);
    kept.parts = kept.layers;
    if (grows(schedule) && span.isStage()) {
        const double share =
            schedule.stages[span.stage].averageLength / static_cast<double>(std::max<std::int64_t>(depth, 1));
        std::ranges::fill(kept.parts, std::clamp(share, 0.0, 1.0));
    }
    const bool heads = leavesOutHeads(schedule.axis);
    const bool mlp = leavesOutMlp(schedule.axis);
    if (!leavesOutLayers(schedule.axis)) {
        std::ranges::fill(kept.layers, 1.0);
    }
    if (!heads && !mlp) {
        std::ranges::fill(kept.parts, 1.0);
    }
    return kept;
}

} // namespace

bool leavesOutLayers(DropAxis axis)
{
    return axis == DropAxis::Layers || axis == DropAxis::LayersAndHeads || axis == DropAxis::LayersAndMlp ||
           axis == DropAxis::All;
}

bool leavesOutHeads(DropAxis axis)
{
    return axis == DropAxis::Heads || axis == DropAxis::LayersAndHeads || axis == DropAxis::HeadsAndMlp ||
           axis == DropAxis::All;
}

bool leavesOutMlp(DropAxis axis)
{
    return axis == DropAxis::Mlp || axis == DropAxis::LayersAndMlp || axis == DropAxis::HeadsAndMlp ||
           axis == DropAxis::All;
}

bool leavesOutVisits(const StageSchedule& schedule)
{
    return schedule.unit == DropUnit::Visit && leavesOutLayers(schedule.axis);
}

StageSchedule drawnSchedule(StageSchedule schedule, const Stack& stack)
{
    if (!leavesOutVisits(schedule) || stack.loops.empty()) {
        return schedule;
    }
    const std::vector<LayerVisit> execution = executionOf(stack);
    for (Stage& stage : schedule.stages) {
        std::set<std::pair<const Loop*, std::int64_t>> kept;
        for (const std::int64_t number : stage.always) {
            const LayerVisit at = stack.visitAt(number);
            kept.emplace(stack.loopOf(at.layer), at.visit);
        }
        stage.always.clear();
        for (std::size_t i = 0; i < execution.size(); ++i) {
            const Loop* const loop = stack.loopOf(execution[i].layer);
            if (loop == nullptr || loop->visits == 1 || kept.contains({loop, execution[i].visit})) {
                stage.always.push_back(static_cast<std::int64_t>(i + 1));
            }
        }
    }
    return schedule;
}

KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth, std::int64_t steps,
                      std::int64_t step)
{
    return shares(schedule, span, depth, curveMean(schedule, steps, step, step));
}

KeepShares keepShares(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth, std::int64_t steps)
{
    return shares(schedule, span, depth, curveMean(schedule, steps, span.from + 1, std::max(span.to, span.from + 1)));
}

double expectedLength(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth, std::int64_t steps)
{
    const KeepShares kept = keepShares(schedule, span, depth, steps);
    const std::vector<double>& of = leavesOutLayers(schedule.axis) ? kept.layers : kept.parts;
    return std::accumulate(of.begin(), of.end(), 0.0);
}

std::int64_t keptCount(double keep, std::int64_t count)
{
    return count < 1 ? 0 : std::clamp<std::int64_t>(std::llround(keep * static_cast<double>(count)), 1, count);
}

double keptShare(DropSampling sampling, double keep, std::int64_t count)
{
    const auto all = static_cast<double>(std::max<std::int64_t>(count, 1));
    const bool counted = sampling == DropSampling::FixedSize || sampling == DropSampling::First;
    return counted ? static_cast<double>(keptCount(keep, count)) / all : keep + std::pow(1 - keep, all) / all;
}

std::string nameOf(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth)
{
    const bool all = span.stage == StageSpan::kFull || span.averageLength >= static_cast<double>(depth);
    if (leavesOutLayers(schedule.axis)) {
        if (all) {
            return "every layer";
        }
        const std::string length = numberText(std::round(span.averageLength * 100) / 100);
        return grows(schedule) ? length + (length == "1" ? " layer" : " layers")
                               : length + " of " + countText(static_cast<std::size_t>(depth), "layer") +
                                     (leavesOutVisits(schedule) ? " by whole visits" : "");
    }
    const double share = span.averageLength / static_cast<double>(std::max<std::int64_t>(depth, 1));
    const char* const of = schedule.axis == DropAxis::Heads ? "heads"
                           : schedule.axis == DropAxis::Mlp ? "MLP"
                                                            : "heads and MLP";
    if (all) {
        return std::string("all of the ") + of;
    }
    return numberText(std::round(share * 1000) / 10) + " % of the " + of;
}

bool grows(const StageSchedule& schedule)
{
    return schedule.sampling == DropSampling::First && schedule.course == DropCourse::Stages &&
           !schedule.stages.empty();
}

std::int64_t grownDepth(const StageSchedule& schedule, const StageSpan& span, std::int64_t depth)
{
    if (!grows(schedule) || !leavesOutLayers(schedule.axis) || !span.isStage()) {
        return depth;
    }
    return std::clamp<std::int64_t>(std::llround(schedule.stages[span.stage].averageLength), 0, depth);
}

Growth growthOf(GrowthSource kind, std::int64_t before, std::int64_t after)
{
    Growth growth;
    const std::int64_t more = std::max<std::int64_t>(after - before, 0);
    for (std::int64_t layer = 1; layer <= after; ++layer) {
        std::int64_t source = layer <= before ? layer : 0;
        bool isNew = layer > before;
        if (kind == GrowthSource::Top && isNew) {
            source = layer - more; // repeats the top `more` layers
        } else if (kind == GrowthSource::Adjacent && layer > before - more) {
            const std::int64_t above = layer - (before - more) - 1; // from the first source on: source, copy, source, …
            source = before - more + 1 + above / 2;
            isNew = above % 2 == 1;
        }
        growth.source.push_back(std::max<std::int64_t>(source, 0));
        growth.isNew.push_back(isNew);
    }
    return growth;
}

} // namespace residua::projects
