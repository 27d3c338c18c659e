// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/schedule/stage_schedule.h"

#include "projects/base/text.h"
#include "projects/model/graph.h"
#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace residua::projects {

namespace {

constexpr const char* kPlace = "schedule · stages";
constexpr std::int64_t kCurveSpans = 64;

/// Divides `steps` among the stages in proportion to `shares`. The result sums to `steps`.
std::vector<std::int64_t> divided(const std::vector<double>& shares, std::int64_t steps)
{
    const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
    std::vector<std::int64_t> counts;
    double reached = 0;
    std::int64_t given = 0;
    for (const double share : shares) {
        reached += share;
        const std::int64_t upTo = std::llround(static_cast<double>(steps) * reached / all);
        counts.push_back(upTo - given);
        given = upTo;
    }
    return counts;
}

double weightedMean(const std::vector<double>& lengths, const std::vector<std::int64_t>& counts)
{
    double sum = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        sum += lengths[s] * static_cast<double>(counts[s]);
    }
    return sum / static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

/// Moves x steps from each stage before the last to the last, which raises the mean by x·Σ(ℓ_k − ℓ_s)/steps.
Result<std::vector<std::int64_t>> towards(double target, const std::vector<double>& lengths,
                                          std::vector<std::int64_t> counts, std::int64_t steps)
{
    double rise = 0;
    for (const double length : lengths) {
        rise += lengths.back() - length;
    }
    const double mean = weightedMean(lengths, counts);
    const double exact = rise > 0 ? (target - mean) * static_cast<double>(steps) / rise : 0.0;
    const auto moved = static_cast<std::int64_t>(std::llround(exact));
    const std::int64_t before = static_cast<std::int64_t>(lengths.size()) - 1;
    if (target <= 0 || moved >= counts.front() || counts.back() + before * moved < 1 || (rise == 0 && target != mean)) {
        return Error{kPlace, "an average of " + numberText(target) + " layers cannot be reached with stages of " +
                                 numberText(lengths.front()) + " to " + numberText(lengths.back())};
    }
    for (std::size_t s = 0; s + 1 < counts.size(); ++s) {
        counts[s] -= moved;
    }
    counts.back() += before * moved;
    return counts;
}

std::vector<double> sharesOf(StageSplit split, std::size_t stages)
{
    std::vector<double> shares(stages, 1.0);
    if (split == StageSplit::Proportional) {
        std::iota(shares.begin(), shares.end(), 1.0);
    }
    return shares;
}

/// Divides `steps` among the stages.
Result<std::vector<std::int64_t>> stepsOf(const std::vector<double>& lengths, StageSplit split, std::int64_t steps,
                                          double target)
{
    if (split != StageSplit::TargetAverage) {
        return divided(sharesOf(split, lengths.size()), steps);
    }
    std::vector<std::int64_t> equal = divided(sharesOf(StageSplit::Equal, lengths.size()), steps);
    std::vector<std::int64_t> proportional = divided(sharesOf(StageSplit::Proportional, lengths.size()), steps);
    const auto distance = [&](const std::vector<std::int64_t>& counts) {
        return std::abs(weightedMean(lengths, counts) - target);
    };
    const bool proportionalIsNearer = distance(proportional) < distance(equal);
    return towards(target, lengths, std::move(proportionalIsNearer ? proportional : equal), steps);
}

} // namespace

double keepProbability(const Stage& stage, std::int64_t depth)
{
    const auto always = static_cast<double>(stage.always.size());
    const double others = static_cast<double>(depth) - always;
    return others > 0 ? std::clamp((stage.averageLength - always) / others, 0.0, 1.0) : 1.0;
}

bool trainsAll(const StageSchedule& schedule)
{
    return schedule.course == DropCourse::Stages && schedule.stages.empty();
}

std::vector<StageSpan> spansOf(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps)
{
    std::vector<StageSpan> spans;
    if (steps < 1) {
        return spans;
    }
    if (schedule.course == DropCourse::Curve) {
        const std::int64_t count = std::min(kCurveSpans, steps);
        for (std::int64_t i = 0; i < count; ++i) {
            StageSpan span{steps * i / count, steps * (i + 1) / count, StageSpan::kCurve, 0};
            span.averageLength = expectedLength(schedule, span, depth, steps);
            spans.push_back(span);
        }
        return spans;
    }
    const auto put = [&](std::int64_t from, std::int64_t to, std::size_t stage, double length) {
        if (from < to) {
            spans.push_back({from, to, stage, length});
        }
    };
    const auto all = static_cast<double>(depth);
    const std::int64_t full = std::clamp<std::int64_t>(schedule.fullModelSteps, 0, steps);
    const std::int64_t first = schedule.stages.empty() ? steps : schedule.stages.front().start;
    put(0, std::clamp(first, full, steps), StageSpan::kFull, all);
    for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
        const std::int64_t end = s + 1 < schedule.stages.size() ? schedule.stages[s + 1].start : steps;
        put(std::max(schedule.stages[s].start, full), std::min(end, steps), s, schedule.stages[s].averageLength);
    }
    return spans;
}

const StageSpan& spanAt(const std::vector<StageSpan>& spans, std::int64_t step)
{
    const auto found = std::ranges::lower_bound(spans, step, {}, &StageSpan::to);
    return found == spans.end() ? spans.back() : *found;
}

double averageLength(const StageSchedule& schedule, std::int64_t depth, std::int64_t steps)
{
    double sum = 0;
    for (const StageSpan& span : spansOf(schedule, depth, steps)) {
        sum += span.averageLength * static_cast<double>(span.to - span.from);
    }
    return steps > 0 ? sum / static_cast<double>(steps) : static_cast<double>(depth);
}

Result<std::vector<double>> stageLengthsFrom(std::string_view text)
{
    std::vector<double> lengths;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('-', begin), text.size());
        const auto length = numberFrom<double>(text.substr(begin, end - begin));
        if (!length || !(*length > 0)) {
            return Error{kPlace, "got \"" + std::string(text) + "\", expected average lengths such as 6-8-10-12"};
        }
        if (!lengths.empty() && *length < lengths.back()) {
            return Error{kPlace, "the length falls from " + numberText(lengths.back()) + " to " + numberText(*length) +
                                     ", expected it to stay or grow"};
        }
        lengths.push_back(*length);
        begin = end + 1;
    }
    return lengths;
}

std::string stageLengthsText(const StageSchedule& schedule)
{
    std::string text;
    for (const Stage& stage : schedule.stages) {
        text += (text.empty() ? "" : "-") + numberText(stage.averageLength);
    }
    return text;
}

Result<StageSchedule> makeStages(const StageSchedule& before, const std::vector<double>& lengths, StageSplit split,
                                 std::int64_t depth, std::int64_t steps, double target, StageEnds ends)
{
    if (lengths.empty() || steps < static_cast<std::int64_t>(lengths.size())) {
        return Error{kPlace, "got " + std::to_string(lengths.size()) + " stages for " + std::to_string(steps) +
                                 " steps, expected at least one and a step for each"};
    }
    const bool keeps = ends == StageEnds::Kept;
    const double kept = keeps && depth > 1 ? 2 : 1; // first and last
    for (const double length : lengths) {
        if (length < kept || length > static_cast<double>(depth)) {
            return Error{kPlace, "got an average length of " + numberText(length) + ", expected " + numberText(kept) +
                                     " to " + std::to_string(depth) + " layers"};
        }
    }
    const std::vector<std::int64_t> counts = RESIDUA_TRY(stepsOf(lengths, split, steps, target));
    if (before.fullModelSteps >= counts.back()) {
        return Error{kPlace, "the full model trains for " + std::to_string(before.fullModelSteps) +
                                 " steps first, which the last stage has to make up for with its " +
                                 std::to_string(counts.back()) + ", expected fewer"};
    }
    StageSchedule schedule = before;
    schedule.stages.clear();
    std::int64_t start = std::max<std::int64_t>(before.fullModelSteps, 0);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        std::vector<std::int64_t> always;
        if (keeps) {
            always = depth > 1 ? std::vector<std::int64_t>{1, depth} : std::vector<std::int64_t>{1};
        }
        schedule.stages.push_back({start, lengths[s], std::move(always)});
        start += counts[s];
    }
    return schedule;
}

StageSchedule withFullModelSteps(StageSchedule schedule, std::int64_t steps)
{
    // A file may hold any numbers; clamping keeps the sums from overflowing.
    const auto held = [](std::int64_t step) { return std::clamp<std::int64_t>(step, 0, std::int64_t{1} << 53); };
    const std::int64_t shift = schedule.stages.empty() ? 0 : held(steps) - held(schedule.stages.front().start);
    for (Stage& stage : schedule.stages) {
        stage.start = held(stage.start) + shift;
    }
    schedule.fullModelSteps = steps;
    return schedule;
}

StageSchedule stretched(StageSchedule schedule, std::int64_t before, std::int64_t after)
{
    const auto isInside = [before](std::int64_t steps) { return steps >= 0 && steps <= before; };
    if (before < 1 || after < 1 || before == after || !isInside(schedule.fullModelSteps) ||
        !isInside(schedule.growthWarmup) ||
        !std::ranges::all_of(schedule.stages, [&](const Stage& stage) { return isInside(stage.start + 1); })) {
        return schedule;
    }
    const auto of = [&](std::int64_t steps) {
        return static_cast<std::int64_t>(
            std::llround(static_cast<double>(steps) * static_cast<double>(after) / static_cast<double>(before)));
    };
    schedule.fullModelSteps = of(schedule.fullModelSteps);
    schedule.growthWarmup = schedule.growthWarmup > 0 ? std::max<std::int64_t>(of(schedule.growthWarmup), 1) : 0;
    for (Stage& stage : schedule.stages) {
        stage.start = of(stage.start);
    }
    for (std::size_t s = schedule.stages.size(); s-- > 0;) {
        const std::int64_t end = s + 1 < schedule.stages.size() ? schedule.stages[s + 1].start : after;
        if (schedule.stages[s].start >= end) {
            schedule.stages.erase(schedule.stages.begin() + static_cast<std::ptrdiff_t>(s));
        }
    }
    return schedule;
}

StageSchedule continued(StageSchedule schedule, std::int64_t before, std::int64_t after)
{
    if (schedule.course == DropCourse::Curve && before > 0) {
        schedule.curveRate *= static_cast<double>(after) / static_cast<double>(before); // only γ_f/T matters
    }
    return schedule;
}

StageSchedule withStart(StageSchedule schedule, std::size_t index, std::int64_t start, std::int64_t steps)
{
    std::vector<Stage>& stages = schedule.stages;
    const std::int64_t low = index > 0 ? stages[index - 1].start + 1 : 0;
    const std::int64_t high = (index + 1 < stages.size() ? stages[index + 1].start : steps) - 1;
    stages[index].start = std::clamp(start, low, std::max(low, high));
    return schedule;
}

StageSchedule withLength(StageSchedule schedule, std::size_t index, double length, std::int64_t depth)
{
    std::vector<Stage>& stages = schedule.stages;
    const auto always = static_cast<double>(stages[index].always.size());
    const double low = std::max({index > 0 ? stages[index - 1].averageLength : 1.0, always, 1.0});
    const double high = index + 1 < stages.size() ? stages[index + 1].averageLength : static_cast<double>(depth);
    stages[index].averageLength = std::clamp(length, low, std::max(low, high));
    return schedule;
}

StageSchedule withSplit(StageSchedule schedule, std::int64_t start, std::int64_t depth)
{
    std::vector<Stage>& stages = schedule.stages;
    const auto next = std::ranges::lower_bound(stages, start, {}, &Stage::start);
    if (next != stages.end() && next->start == start) {
        return schedule;
    }
    const double after = next == stages.end() ? static_cast<double>(depth) : next->averageLength;
    Stage stage = next != stages.begin() ? next[-1] : next != stages.end() ? *next : Stage{0, after, {1}};
    if (next != stages.begin()) {
        stage.averageLength = std::clamp(std::round((stage.averageLength + after) / 2), stage.averageLength, after);
    }
    stage.start = start;
    stages.insert(next, stage);
    return schedule;
}

StageSchedule withoutStage(StageSchedule schedule, std::size_t index)
{
    std::vector<Stage>& stages = schedule.stages;
    if (index == 0 && stages.size() > 1) {
        stages[1].start = stages[0].start;
    }
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(index));
    return schedule;
}

std::vector<double> recommendedLengths(std::int64_t depth)
{
    std::vector<double> lengths;
    for (std::int64_t s = 0; s < 4; ++s) {
        const double length = std::round(static_cast<double>(depth) * static_cast<double>(3 + s) / 6);
        const double kept = depth > 1 ? 2 : 1;
        if (lengths.empty() || length > lengths.back()) {
            lengths.push_back(std::max(length, kept));
        }
    }
    return lengths;
}

} // namespace residua::projects
