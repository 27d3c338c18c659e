// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep/sweep_plan.h"
#include "engine/base/api/values.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/nodes/towers.h"
#include "projects/studies/sweep_grid.h"
#include "projects/studies/sweep_results.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace residua::cli {
namespace {

using engine::member::Finished;
using nlohmann::json;

double totalFlops(const SweepPlan& plan)
{
    return sumOf(plan.members, [&](const Planned& planned) -> double { return planned.member.trainFlops; });
}

/// Returns the cost that the members are compared by: the FLOP of the training, or of a pass if they go on from a run.
double costOf(const SweepPlan& plan, const Planned& planned)
{
    return plan.origin ? planned.member.cost.forwardFlops : planned.member.trainFlops;
}

/// Returns the members with their values, for the evaluation of the sweep.
std::vector<projects::SweepResult> resultsOf(const SweepPlan& plan)
{
    return mapped<std::vector<projects::SweepResult>>(plan.members, [](const Planned& planned) {
        return projects::SweepResult{planned.member.values, engine::finalValue(planned.status)};
    });
}

/// Returns the metric that the members, which have one objective, are compared by.
projects::Judge judgeOf(const SweepPlan& plan)
{
    return plan.members.empty() ? projects::Judge() : projects::judgeOfRuns(plan.members.front().member.project);
}

/// Returns the indices of the finished members on the Pareto front of cost and loss.
std::set<std::size_t> frontOf(const SweepPlan& plan)
{
    std::vector<projects::CostAndValue> points;
    for (const Planned& planned : plan.members) {
        const std::optional<double> value = engine::finalValue(planned.status);
        points.push_back({costOf(plan, planned), value.value_or(std::numeric_limits<double>::quiet_NaN())});
    }
    const std::vector<std::size_t> front = projects::paretoFront(points, judgeOf(plan));
    return {front.begin(), front.end()};
}

/// Prints the best values of the searched axes, if there are any, and what each axis decides.
void tellEvaluation(const SweepPlan& plan, const Console& console)
{
    const std::vector<projects::SweepResult> results = resultsOf(plan);
    const auto bests = projects::bestOfEach(plan.sweep, results, judgeOf(plan));
    if (!bests.empty()) {
        const auto searched = axisLabels(plan.sweep, projects::AxisRole::Searched);
        std::vector<std::vector<std::string>> rows{axisLabels(plan.sweep, projects::AxisRole::Compared)};
        rows.front().insert(rows.front().end(), searched.begin(), searched.end());
        rows.front().insert(rows.front().end(), {std::string(judgeOf(plan).quantity) + " over seeds", ""});
        for (const projects::BestOfEach& best : bests) {
            rows.push_back(best.compared);
            rows.back().insert(rows.back().end(), best.best.begin(), best.best.end());
            rows.back().insert(rows.back().end(), {textOf(best.mean), remarkOn(best)});
        }
        console.line("\nthe best " + joinedText(searched));
        console.line(console.table(rows));
    }
    if (const auto importance = projects::importanceOf(plan.sweep, results)) {
        std::string text;
        for (std::size_t axis = 0; axis < plan.sweep.axes.size(); ++axis) {
            text += labelOf(plan.sweep.axes[axis]) + " " + projects::shareText(importance->shares[axis]) + ", ";
        }
        console.line("share of the variance of " + countText(importance->count, "member") +
                     " that an axis explains: " + text + "axes together " + percentText(importance->together));
    }
}

json jsonOf(const projects::BestOfEach& best)
{
    const auto orNull = [](double value) { return std::isfinite(value) ? json(value) : json(nullptr); };
    return {{"compared", best.compared},      {"best", best.best},
            {"mean", orNull(best.mean.mean)}, {"deviation", orNull(best.mean.deviation)},
            {"count", best.mean.count},       {"isAtEnd", best.isAtEnd},
            {"missing", best.missing}};
}

/// Returns the evaluation as two keys of the sweep's JSON value.
json evaluationOf(const SweepPlan& plan)
{
    const std::vector<projects::SweepResult> results = resultsOf(plan);
    auto bests = mapped<json>(projects::bestOfEach(plan.sweep, results, judgeOf(plan)),
                              [&](const projects::BestOfEach& best) { return jsonOf(best); });
    const auto importance = projects::importanceOf(plan.sweep, results);
    return {{"best", bests},
            {"importance", importance ? json{{"shares", importance->shares},
                                             {"together", importance->together},
                                             {"count", importance->count}}
                                      : json(nullptr)}};
}

/// Returns the number of recorded steps, or null if the status has none.
json stepOf(const Planned& planned)
{
    return std::visit(
        [&](const auto& status) -> json {
            if constexpr (requires { status.step; }) {
                return status.step;
            } else if constexpr (std::is_same_v<std::decay_t<decltype(status)>, Finished>) {
                return planned.member.project.training.steps;
            }
            return nullptr;
        },
        planned.status);
}

json jsonOf(const Planned& planned, std::size_t index, bool best)
{
    const projects::SweepMember& member = planned.member;
    const auto* const finished = std::get_if<Finished>(&planned.status);
    return {{"number", index + 1},
            {"label", member.label},
            {"values", member.values},
            {"directory", planned.directory.string()},
            {"chosen", planned.chosen},
            {"parameters", member.cost.parameters},
            {"steps", member.project.training.steps},
            {"forwardFlops", member.cost.forwardFlops},
            {"flops", member.trainFlops},
            {"error", member.error ? member.error->text() : ""},
            {"status", engine::textOf(planned.status)},
            {"leftOutAt",
             planned.turn.kind == projects::HalvingTurn::Kind::LeftOut ? json(planned.turn.stopAfter) : json(nullptr)},
            {"detail", engine::describe(planned.status)},
            {"otherData", planned.otherData},
            {"step", stepOf(planned)},
            {"loss", finished != nullptr ? json(finished->run.loss()) : json(nullptr)},
            {"validationLoss", finished != nullptr ? json(finished->run.validationLoss()) : json(nullptr)},
            {"results", finished != nullptr ? json(finished->run.values) : json(nullptr)},
            {"pareto", best}};
}

std::string lossCell(const std::optional<double>& loss)
{
    return lossText(loss.value_or(std::numeric_limits<double>::quiet_NaN()));
}

bool isFinished(const Planned& planned)
{
    return std::holds_alternative<Finished>(planned.status);
}

/// Prints a line for each chosen member with more information than its status in the table.
void tellDetails(const SweepPlan& plan, const Console& console)
{
    for (const Planned& planned : plan.members) {
        const bool plain = isFinished(planned) || std::holds_alternative<engine::member::Pending>(planned.status) ||
                           statusWord(planned) != engine::textOf(planned.status); // left out, as the table says
        if (planned.chosen && !plain) {
            console.line(planned.member.label + ": " + engine::describe(planned.status));
        }
        if (planned.chosen && !planned.otherData.empty()) {
            console.line(planned.member.label + ": was trained on other data: " + planned.otherData);
        }
    }
}

} // namespace

void showJson(const SweepPlan& plan, const Console& console)
{
    const std::set<std::size_t> front = frontOf(plan);
    json list = json::array();
    json whole = evaluationOf(plan);
    std::map<std::string, int> counts;
    for (std::size_t i = 0; i < plan.members.size(); ++i) {
        list.push_back(jsonOf(plan.members[i], i, front.contains(i)));
        if (plan.origin) {
            const double before = lossBefore(plan.members[i]);
            list.back().update(
                {{"pruned", plan.members[i].prune}, {"lossBefore", std::isnan(before) ? json(nullptr) : json(before)}});
        }
        ++counts[engine::textOf(plan.members[i].status)];
    }
    whole.update({{"sweep", plan.sweep.name},
                  {"folder", plan.folder.string()},
                  {"flops", totalFlops(plan)},
                  {"warnings", plan.warnings},
                  {"counts", counts},
                  {"complete", std::ranges::all_of(plan.members, isFinished)},
                  {"members", list}});
    console.value(whole);
}

std::string estimateOf(const SweepPlan& plan)
{
    double flops = 0;
    double doneFlops = 0;
    double seconds = 0;
    for (const Planned& planned : plan.members) {
        const auto* const finished = std::get_if<Finished>(&planned.status);
        const double took = finished != nullptr ? finished->run.last(engine::metric::kSeconds) : 0;
        if (took > 0) {
            doneFlops += planned.member.trainFlops;
            seconds += took;
        }
        flops += planned.chosen && finished == nullptr ? planned.member.trainFlops : 0;
    }
    if (flops <= 0) {
        return {};
    }
    if (!plan.rungs.empty()) {
        flops *= projects::halvedShare(plan.rungs, projects::groupCount(plan.sweep),
                                       plan.members.front().member.project.training.steps);
    }
    std::string text = (plan.rungs.empty() ? "" : "about ") + scaled(flops) + "FLOP to train";
    if (seconds > 0 && doneFlops > 0) {
        text += ", about " + durationText(flops / doneFlops * seconds) + " at the pace of the finished members";
    }
    return text;
}

std::string summaryOf(const SweepPlan& plan)
{
    std::size_t finished = 0;
    std::vector<std::pair<std::string, int>> others; // in the order of the grid
    for (const Planned& planned : plan.members) {
        if (isFinished(planned)) {
            ++finished;
            continue;
        }
        const std::string word = statusWord(planned);
        const auto known = std::ranges::find(others, word, &std::pair<std::string, int>::first);
        if (known == others.end()) {
            others.emplace_back(word, 1);
        } else {
            ++known->second;
        }
    }
    const std::string all = std::to_string(plan.members.size());
    if (others.empty()) {
        return plan.members.size() == 1 ? "the member is finished" : "all " + all + " members are finished";
    }
    std::string text = std::to_string(finished) + " of " + all + (plan.members.size() == 1 ? " member" : " members") +
                       (finished == 1 ? " is finished" : " are finished");
    for (const auto& [word, count] : others) {
        text += ", " + std::to_string(count) + " " + word;
    }
    return text;
}

void showGrid(const SweepPlan& plan, const Console& console)
{
    std::vector<std::vector<std::string>> rows{{"member", "#", "parameters", "steps", "FLOP", "loss", "status"}};
    for (std::size_t i = 0; i < plan.members.size(); ++i) {
        const Planned& planned = plan.members[i];
        if (!planned.chosen) {
            continue;
        }
        const projects::SweepMember& member = planned.member;
        rows.push_back({member.label, std::to_string(i + 1), groupedText(member.cost.parameters),
                        groupedText(member.project.training.steps), scaled(member.trainFlops),
                        lossCell(engine::finalValue(planned.status)), statusText(planned)});
    }
    rows.push_back({"whole grid", "", "", "", scaled(totalFlops(plan))});
    console.line(console.table(rows));
    tellDetails(plan, console);
    console.line(summaryOf(plan));
    if (const std::string estimate = estimateOf(plan); !estimate.empty()) {
        console.line(estimate);
    }
    showJson(plan, console);
}

void showOutcome(const SweepPlan& plan, const Console& console)
{
    const std::set<std::size_t> front = frontOf(plan);
    std::vector<std::vector<std::string>> rows{
        {"member", "parameters", "FLOP", "loss", "validation", "front", "status"}};
    std::vector<engine::RunInfo> runs; // of each member; without values if it is not finished
    for (const Planned& planned : plan.members) {
        const auto* const finished = std::get_if<Finished>(&planned.status);
        runs.push_back(finished != nullptr ? finished->run : engine::RunInfo());
    }
    if (plan.origin) {
        rows.front().insert(rows.front().end() - 2, {"forward FLOP", "before training"});
    }
    const std::vector<engine::MetricTraits> columns = engine::ratingColumns(runs);
    for (const engine::MetricTraits& column : columns) {
        rows.front().push_back(column.title);
    }
    for (std::size_t i = 0; i < plan.members.size(); ++i) {
        const Planned& planned = plan.members[i];
        rows.push_back({planned.member.label, groupedText(planned.member.cost.parameters),
                        scaled(planned.member.trainFlops), lossText(runs[i].loss()), lossText(runs[i].validationLoss()),
                        front.contains(i) ? "*" : "", statusText(planned)});
        if (plan.origin) {
            rows.back().insert(rows.back().end() - 2,
                               {scaled(planned.member.cost.forwardFlops), lossCell(lossBefore(planned))});
        }
        for (const engine::MetricTraits& column : columns) {
            rows.back().push_back(lossText(runs[i].last(column.name)));
        }
    }
    console.line(console.table(rows));
    console.line(std::string("* no other finished member is cheaper") +
                 (plan.origin ? " by the FLOP of a forward pass of one token or sample" : "") + " and better\ntotal " +
                 scaled(totalFlops(plan)) + "FLOP");
    tellEvaluation(plan, console);
    tellDetails(plan, console);
    console.line(summaryOf(plan));
    showJson(plan, console);
}

} // namespace residua::cli
