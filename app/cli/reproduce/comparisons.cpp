// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/reproduce/comparisons.h"

#include "engine/runs/results/run_reader.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ranges>
#include <utility>

namespace residua::cli {
namespace {

using nlohmann::json;
using projects::Verdict;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFewestPairs = 2;
constexpr std::size_t kFewestSeeds = 3;   ///< for a row that one seed cannot decide
constexpr double kFlopsOfThread = 1.5e10; ///< a second, in the recorded trainings on one thread of a CPU
constexpr double kSecondsOfStep = 5e-4;   ///< beside its FLOP, in the recorded training of the smallest network

double meanOf(const std::vector<SeededValue>& values)
{
    double sum = sumOf(values, &SeededValue::value);
    return values.empty() ? kUnknown : sum / static_cast<double>(values.size());
}

/// Formats a value with four significant digits; "–" for NaN.
std::string shown(double value)
{
    constexpr int kDigits = 4;
    return std::isnan(value) ? "–" : numberText(value, kDigits);
}

const RecordedMember* memberOf(const Recording& recording, const Side& side, std::optional<std::int64_t> step)
{
    const auto found = std::ranges::find_if(recording.members, [&](const RecordedMember& member) {
        return member.name == side.member && member.metric == side.metric && member.step == step;
    });
    return found == recording.members.end() ? nullptr : &*found;
}

std::vector<SeededValue> seeded(const Recording& recording, const RecordedMember& member)
{
    std::vector<SeededValue> values;
    for (std::size_t i = 0; i < member.values.size() && i < recording.seeds.size(); ++i) {
        values.push_back({recording.seeds[i], member.values[i]});
    }
    return values;
}

/// Returns the value of a finished run: the last one, or that at `step`.
std::optional<double> valueOf(const std::filesystem::path& run, const std::string& metric,
                              std::optional<std::int64_t> step)
{
    const Result<engine::RunReader> reader = engine::RunReader::open(run);
    if (!reader) {
        return std::nullopt;
    }
    const Result<engine::RunInfo> info = reader->info();
    if (!info || info->status != engine::RunStatus::Finished) {
        return std::nullopt;
    }
    const auto point = reader->lastPoint(metric, step.value_or(std::numeric_limits<std::int64_t>::max()));
    return point && (!step || point->step == *step) ? std::optional(point->value) : std::nullopt;
}

/// Returns a standard deviation over the seeds; nullopt below two values.
std::optional<double> deviationOf(const RecordedMember& member)
{
    if (member.values.size() < kFewestPairs) {
        return member.deviation;
    }
    double squares = sumOf(member.values,
                           [&](const double value) -> double { return (value - member.mean) * (value - member.mean); });
    return std::sqrt(squares / static_cast<double>(member.values.size() - 1));
}

/// Returns what is known of a member whose single values are not recorded.
projects::MeanOfSeveral summaryOf(const Recording& recording, const RecordedMember& member)
{
    using Deviation = projects::MeanOfSeveral::Deviation;
    if (const std::optional<double> known = deviationOf(member)) {
        return {member.mean, *known, recording.seeds.size(), Deviation::Known};
    }
    const bool bounded = recording.deviations.has_value();
    return {member.mean, bounded ? recording.deviations->second : 0, bounded ? recording.seeds.size() : 0,
            Deviation::AtMost};
}

std::string intervalText(const projects::PairedDifference& difference)
{
    if (!std::isfinite(difference.halfWidth)) {
        return "no interval";
    }
    return shown(difference.low()) + " to " + shown(difference.high()) + ", " +
           (difference.pairs > 0 ? std::to_string(difference.pairs) + " pairs" : "of means");
}

std::string paperText(const std::optional<double>& value)
{
    return value ? shown(*value) : "";
}

std::string statedText(const Comparison& comparison)
{
    return comparison.direction == projects::Direction::Below ? "below 0" : "above 0";
}

std::string nameOf(const Side& side, std::optional<std::int64_t> step)
{
    return side.member + ", " + side.metric + (step ? " at step " + groupedText(*step) : "");
}

/// Formats the machine of a recording: "CPU, 1 thread".
std::string machineText(const Recording& recording)
{
    if (recording.threads) {
        return recording.device + ", " + countText(static_cast<std::size_t>(*recording.threads), "thread");
    }
    return recording.device + (lacksThreads(recording) ? ", threads not recorded" : "");
}

/// Returns the number of seeds that the command trains, and the size of so many runs with the time that they take. That
/// follows from the recording, or without it from their FLOP.
std::string trainsText(const TrainedRuns& trained, const char* between, std::size_t runs, const Recording* recording)
{
    std::string text = trained.seeds > 0 ? between + ("its command trains " + std::to_string(trained.seeds)) : "";
    if (trained.steps > 0) {
        const bool isTimed = recording != nullptr && recording->secondsPerRun;
        const double seconds =
            isTimed ? *recording->secondsPerRun
                    : trained.flops / kFlopsOfThread + kSecondsOfStep * static_cast<double>(trained.steps);
        text += "; " + countText(runs, "run") + " of " + groupedText(trained.steps) + " steps take roughly " +
                durationText(static_cast<double>(runs) * seconds) + " on " +
                (isTimed ? machineText(*recording) : "one thread of a CPU");
    }
    return text;
}

/// Returns what would decide a difference that cannot tell. `recording`, with the time of its runs, may be null.
std::string needText(const projects::PairedDifference& difference, const TrainedRuns& trained,
                     const Recording* recording)
{
    const std::optional<std::size_t> pairs = projects::pairsToDecide(difference);
    if (!pairs) {
        return "needs paired seeds" + trainsText(trained, ": ", trained.seeds * trained.runs, recording);
    }
    const std::size_t count = std::min(*pairs, projects::kMostPairs);
    std::string text = (*pairs > projects::kMostPairs ? "more than " : "about ") +
                       groupedText(static_cast<std::int64_t>(count)) +
                       " pairs would be needed if the mean difference stays";
    text += difference.pairs == 0 ? " and the sides are independent (only means are recorded)" : "";
    return text + trainsText(trained, "; ", count * trained.runs, recording);
}

/// Appends to every row of the table the cells of one column.
void addColumn(std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& cells)
{
    for (std::size_t i = 0; i < cells.size(); ++i) {
        rows[rows.size() - cells.size() + i].push_back(cells[i]);
    }
}

void addOutcome(std::vector<std::vector<std::string>>& rows, const Outcome& outcome)
{
    addColumn(rows, {shown(outcome.a), shown(outcome.b), shown(outcome.difference.mean),
                     intervalText(outcome.difference), projects::textOf(outcome.verdict)});
}

} // namespace

Outcome outcomeOf(const Comparison& comparison, const std::vector<SeededValue>& a, const std::vector<SeededValue>& b)
{
    Outcome outcome{meanOf(a), meanOf(b), projects::pairedBySeed(a, b), {}};
    outcome.verdict = projects::verdictOf(outcome.difference, comparison.direction);
    return outcome;
}

std::optional<Outcome> outcomeIn(const Recording& recording, const Comparison& comparison)
{
    const RecordedMember* const a = memberOf(recording, comparison.a, comparison.step);
    const RecordedMember* const b = memberOf(recording, comparison.b, comparison.step);
    if (a == nullptr || b == nullptr) {
        return std::nullopt;
    }
    if (!a->values.empty() && !b->values.empty()) {
        return outcomeOf(comparison, seeded(recording, *a), seeded(recording, *b));
    }
    Outcome found{
        a->mean, b->mean, projects::differenceOfMeans(summaryOf(recording, *a), summaryOf(recording, *b)), {}};
    found.verdict = projects::verdictOf(found.difference, comparison.direction);
    return found;
}

std::string commandOf(const Reproduction& row, const Comparison& comparison)
{
    const bool isSweep = !comparison.a.member.starts_with(kOutPlaceholder);
    std::size_t sweeps = 0;
    for (const std::string& line : row.commands) {
        if (isSweep ? line.starts_with("sweep ") && sweeps++ == comparison.sweep
                    : line.find(kSeedPlaceholder) != std::string::npos) {
            return line;
        }
    }
    return {};
}

const Recording* recordingFor(const Reproduction& row, const Comparison& comparison)
{
    const Recording* best = nullptr;
    for (const Recording* const recording : recordingsOf(row)) {
        if (recording->command != commandOf(row, comparison)) {
            continue; // of another comparison, or of a wider study
        }
        const std::optional<Outcome> found = outcomeIn(*recording, comparison);
        if (found && found->difference.pairs > 0) {
            return recording;
        }
        best = found ? recording : best;
    }
    return best;
}

Outcome recordedOutcome(const Reproduction& row, const Comparison& comparison)
{
    const Recording* const recording = recordingFor(row, comparison);
    return recording != nullptr ? *outcomeIn(*recording, comparison) : outcomeOf(comparison, {}, {});
}

std::vector<Outcome> recordedOutcomes(const Reproduction& row)
{
    return mapped<std::vector<Outcome>>(row.comparisons,
                                        [&](const Comparison& comparison) { return recordedOutcome(row, comparison); });
}

std::optional<Verdict> recordedVerdict(const Reproduction& row)
{
    if (row.comparisons.empty()) {
        for (const Recording* const recording : recordingsOf(row)) {
            if (recording->verdict) {
                return recording->verdict;
            }
        }
        return std::nullopt;
    }
    Verdict all = Verdict::Agrees;
    for (const Outcome& outcome : recordedOutcomes(row)) {
        if (outcome.verdict == Verdict::Differs) {
            return outcome.verdict;
        }
        all = outcome.verdict == Verdict::CannotTell ? outcome.verdict : all;
    }
    return all;
}

std::string textOf(const Need& need)
{
    return need.comparison.empty() ? need.text : need.comparison + ": " + need.text;
}

std::vector<Need> needsOf(const Reproduction& row, const std::vector<Outcome>& outcomes,
                          const std::vector<TrainedRuns>& trained)
{
    std::vector<Need> needs;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].verdict == Verdict::CannotTell) {
            const Comparison& comparison = row.comparisons[i];
            needs.push_back(
                {nameOf(comparison.a, comparison.step) + " against " + nameOf(comparison.b, comparison.step),
                 needText(outcomes[i].difference, trained[i], recordingFor(row, comparison))});
        }
    }
    if (row.comparisons.empty() && recordedVerdict(row) == Verdict::CannotTell) {
        const std::vector<const Recording*> recorded = recordingsOf(row);
        const auto single = std::ranges::find_if(recorded, [](const Recording* one) { return one->seeds.size() == 1; });
        if (single != recorded.end()) {
            needs.push_back({"", "needs several seeds" +
                                     trainsText(trained.front(), ": ", kFewestSeeds * trained.front().runs, *single)});
        }
    }
    if (!row.needs.empty()) {
        needs.push_back({"", row.needs});
    }
    return needs;
}

std::vector<SeededValue> valuesOf(const SweepPlan& plan, const Side& side, std::optional<std::int64_t> step)
{
    std::map<std::string, std::vector<std::pair<std::string, std::filesystem::path>>> runs; // by label
    for (const Planned& planned : plan.members) {
        const projects::Membership& membership = planned.member.membership;
        const std::string label = membership.labelApartFromSeeds();
        const bool finished = std::holds_alternative<engine::member::Finished>(planned.status);
        if (!finished || !namesMember(side.member, label)) {
            continue;
        }
        std::string seed;
        for (const projects::AxisPoint& point : membership.point) {
            seed += projects::isSeedField(point.field) ? (seed.empty() ? "" : ", ") + point.value : "";
        }
        runs[label].emplace_back(seed, planned.directory);
    }
    std::vector<SeededValue> best;
    for (const auto& [label, folders] : runs) {
        std::vector<SeededValue> values = valuesOf(folders, side, step);
        const bool isAsWhole = values.size() == best.size();
        if (values.size() > best.size() || (isAsWhole && meanOf(values) < meanOf(best))) {
            best = std::move(values);
        }
    }
    return best;
}

std::vector<SeededValue> valuesOf(const std::vector<std::pair<std::string, std::filesystem::path>>& folders,
                                  const Side& side, std::optional<std::int64_t> step)
{
    std::vector<SeededValue> values;
    for (const auto& [seed, run] : folders) {
        if (const std::optional<double> value = valueOf(run, side.metric, step)) {
            values.push_back({seed, *value, run.string()});
        }
    }
    return values;
}

std::vector<std::vector<std::string>> comparisonTable(const Reproduction& row, const std::vector<Outcome>& now)
{
    std::vector<std::vector<std::string>> rows{{"comparison", "paper", "recorded"}};
    if (!now.empty()) {
        rows.front().emplace_back("now");
    }
    for (std::size_t i = 0; i < row.comparisons.size(); ++i) {
        const Comparison& comparison = row.comparisons[i];
        const std::string metric = comparison.paperMetric.empty() ? "" : " (" + comparison.paperMetric + ")";
        for (const std::string& name :
             {"A: " + nameOf(comparison.a, comparison.step), "B: " + nameOf(comparison.b, comparison.step),
              std::string("A − B, mean"), std::string("interval of 95 %"), std::string("verdict")}) {
            rows.push_back({name});
        }
        addColumn(rows,
                  {paperText(comparison.a.paper) + (comparison.a.paper ? metric : ""),
                   paperText(comparison.b.paper) + (comparison.b.paper ? metric : ""), statedText(comparison), "", ""});
        addOutcome(rows, recordedOutcome(row, comparison));
        if (i < now.size()) {
            addOutcome(rows, now[i]);
        }
    }
    return rows;
}

json jsonOf(const Comparison& comparison, const Outcome& outcome)
{
    const auto number = [](double value) { return std::isfinite(value) ? json(value) : json(); };
    const auto side = [](const Side& of) {
        return json{{"member", of.member}, {"metric", of.metric}, {"paper", of.paper ? json(*of.paper) : json()}};
    };
    const bool isOpen = outcome.verdict == Verdict::CannotTell;
    const std::optional<std::size_t> pairs = projects::pairsToDecide(outcome.difference);
    return {{"a", side(comparison.a)},
            {"b", side(comparison.b)},
            {"paperSays", comparison.direction == projects::Direction::Below ? "below" : "above"},
            {"paperMetric", comparison.paperMetric},
            {"step", comparison.step ? json(*comparison.step) : json()},
            {"meanA", number(outcome.a)},
            {"meanB", number(outcome.b)},
            {"difference", number(outcome.difference.mean)},
            {"low", number(outcome.difference.low())},
            {"high", number(outcome.difference.high())},
            {"pairs", outcome.difference.pairs},
            {"pairsToDecide", isOpen && pairs && *pairs <= projects::kMostPairs ? json(*pairs) : json()},
            {"verdict", projects::textOf(outcome.verdict)}};
}

json jsonOf(const Recording& recording)
{
    json members = json::array();
    for (const RecordedMember& member : recording.members) {
        members.push_back({{"member", member.name},
                           {"metric", member.metric},
                           {"step", member.step ? json(*member.step) : json()},
                           {"mean", member.mean},
                           {"values", member.values},
                           {"deviation", member.deviation ? json(*member.deviation) : json()}});
    }
    return {{"command", recording.command},
            {"commit", recording.commit},
            {"device", recording.device},
            {"threads", recording.threads ? json(*recording.threads) : json()},
            {"secondsPerRun", recording.secondsPerRun ? json(*recording.secondsPerRun) : json()},
            {"seeds", recording.seeds},
            {"deviations", recording.deviations ? json(*recording.deviations) : json()},
            {"members", members},
            {"text", recording.text}};
}

json recordableOf(const std::vector<MeasuredMember>& measured)
{
    const auto valueOf = [](const MeasuredMember& member, const std::string& seed) {
        return std::ranges::find(member.values, seed, &SeededValue::seed);
    };
    auto known = mapped<std::vector<const MeasuredMember*>>(
        measured | std::views::filter([&](const MeasuredMember& member) { return !member.values.empty(); }),
        [&](const MeasuredMember& member) { return &member; });
    std::vector<std::string> seeds;
    for (const SeededValue& value : known.empty() ? std::vector<SeededValue>() : known.front()->values) {
        const bool everywhere = std::ranges::all_of(
            known, [&](const MeasuredMember* member) { return valueOf(*member, value.seed) != member->values.end(); });
        if (everywhere) {
            seeds.push_back(value.seed);
        }
    }
    json members = json::array();
    for (const MeasuredMember* const member : known) {
        json made{{"member", member->side.member}, {"metric", member->side.metric}, {"values", json::array()}};
        if (member->step) {
            made["step"] = *member->step;
        }
        for (const std::string& seed : seeds) {
            made["values"].push_back(valueOf(*member, seed)->value);
        }
        members.push_back(std::move(made));
    }
    return {{"seeds", seeds}, {"members", members}};
}

std::vector<std::string> linesOf(const Recording& recording)
{
    std::vector<std::string> lines{"residua-cli " + recording.command,
                                   "at commit " + recording.commit + ", on " + machineText(recording) +
                                       (recording.seeds.empty() ? "" : ", seeds ") + joinedText(recording.seeds, ", ")};
    std::string metric;
    for (const RecordedMember& member : recording.members) {
        const std::optional<double> deviation = deviationOf(member);
        const std::string value = shown(member.mean) + (deviation ? " ± " + shown(*deviation) : "");
        const std::string of = member.metric + (member.step ? " at step " + groupedText(*member.step) : "");
        if (of != metric) {
            metric = of;
            lines.push_back(metric + ": " + member.name + " " + value);
        } else {
            lines.back() += "; " + member.name + " " + value;
        }
    }
    if (recording.deviations) {
        const auto& [least, largest] = *recording.deviations;
        lines.back() += "; deviations " + (least > 0 ? shown(least) + " to " : "at most ") + shown(largest);
    }
    if (!recording.text.empty()) {
        lines.push_back(recording.text);
    }
    return lines;
}

} // namespace residua::cli
