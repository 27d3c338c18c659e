// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands/commands.h"
#include "app/cli/runs/named_runs.h"
#include "app/cli/terminal/console.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace residua::cli {
namespace {

using engine::GroupValues;
using engine::RunGroup;
using nlohmann::json;

/// The compared runs, and their groups.
struct Compared {
    std::vector<engine::RunInfo> infos;
    std::vector<projects::Project> projects; ///< of each run
    engine::RunGroups groups;

    [[nodiscard]] std::vector<engine::TrainedRun> trained() const
    {
        std::vector<engine::TrainedRun> trained;
        for (std::size_t i = 0; i < infos.size(); ++i) {
            trained.push_back({&infos[i], &projects[i]});
        }
        return trained;
    }
};

/// Reads the runs that the arguments name, those of the sweep `sweep` alone unless it is empty.
Result<Compared> comparedRuns(std::span<const std::string> paths, const std::string& sweep, const Console& console)
{
    const auto named = RESIDUA_TRY(namedRuns(paths, sweep));
    Compared compared;
    for (const engine::RunInfo& run : named) {
        auto project = engine::readRunProject(run.directory);
        if (!project) {
            console.remark("left out: " + project.error().text());
            continue;
        }
        compared.infos.push_back(run);
        compared.projects.push_back(std::move(*project));
    }
    if (compared.infos.empty()) {
        return Error{paths.front(), "holds no run that can be read"};
    }
    compared.groups = engine::groupsOf(compared.trained());
    if (const auto folder = engine::groupsFolderOf(compared.infos.front().directory)) {
        engine::keepColours(compared.groups, compared.trained(), *folder);
    }
    return compared;
}

json jsonOf(const projects::MeanOfSeveral& mean)
{
    return {{"mean", mean.mean}, {"deviation", mean.deviation}, {"n", mean.count}};
}

json jsonOf(const projects::PairedDifference& difference)
{
    return {
        {"mean", difference.mean}, {"low", difference.low()}, {"high", difference.high()}, {"pairs", difference.pairs}};
}

/// Returns the training losses of the group's runs by step.
projects::SeededSeries lossesOf(const Compared& compared, const RunGroup& group)
{
    return engine::seededSeries(compared.groups, group, [&](std::size_t run) {
        const auto reader = engine::RunReader::open(compared.infos[run].directory);
        return reader ? reader->metric(engine::metric::kLoss) : std::vector<engine::MetricPoint>();
    });
}

/// Returns the differences of the training loss from the baseline at the steps that both have.
std::string stepsCsv(const Compared& compared, const RunGroup& baseline)
{
    std::ostringstream csv;
    csv.precision(17);
    csv << "group,step,difference,low,high,pairs\n";
    const projects::SeededSeries base = lossesOf(compared, baseline);
    for (const RunGroup& group : compared.groups.groups) {
        const projects::SeededSeries losses = group.key == baseline.key ? base : lossesOf(compared, group);
        for (const auto& [step, difference] : projects::differencesByStep(losses, base)) {
            csv << csvField(group.label) << ',' << step << ',' << difference.mean << ',' << difference.low() << ','
                << difference.high() << ',' << difference.pairs << '\n';
        }
    }
    return csv.str();
}

/// Returns the best group first; groups without a result are last.
std::vector<const RunGroup*> ranked(const Compared& compared, const std::map<std::string, GroupValues>& values)
{
    std::vector<const RunGroup*> order;
    std::ranges::transform(compared.groups.groups, std::back_inserter(order),
                           [](const RunGroup& each) { return &each; });
    const projects::Judge judge = compared.infos.front().judge();
    std::ranges::stable_sort(order, [&](const RunGroup* a, const RunGroup* b) {
        const double left = projects::meanOf(values.at(a->key).judged).mean;
        const double right = projects::meanOf(values.at(b->key).judged).mean;
        return std::isnan(left) || std::isnan(right) ? !std::isnan(left) : judge.prefers(left, right);
    });
    return order;
}

void tell(const Compared& compared, const std::optional<RunGroup>& baseline, std::int64_t last, const Console& console)
{
    const std::vector<engine::TrainedRun> runs = compared.trained();
    const auto valuesOf = [&](const RunGroup& group) { return engine::valuesOf(compared.groups, group, runs, last); };
    std::map<std::string, GroupValues> values; // by the group's key
    for (const RunGroup& group : compared.groups.groups) {
        values[group.key] = valuesOf(group);
    }
    if (baseline && !values.contains(baseline->key)) {
        values[baseline->key] = valuesOf(*baseline);
    }
    const GroupValues* const base = baseline ? &values.at(baseline->key) : nullptr;
    const std::string quantity(compared.infos.front().judge().quantity);
    const std::string training = "training loss, last " + groupedText(last);
    std::vector<std::vector<std::string>> rows{{"group", "runs", quantity, training}};
    if (baseline) {
        rows.front().insert(rows.front().end(), {quantity + " - baseline", "training - baseline"});
    }
    json groups = json::array();
    for (const RunGroup* const group : ranked(compared, values)) {
        const GroupValues& own = values.at(group->key);
        json members = json::array();
        for (const std::size_t run : group->runs) {
            members.push_back({{"directory", compared.infos[run].directory},
                               {"label", compared.groups.labels[run]},
                               {"seeds", compared.groups.seeds[run]},
                               {"status", engine::textOf(compared.infos[run].status)},
                               {"value", compared.infos[run].judged()}});
        }
        json told{{"group", group->label},
                  {"key", group->key},
                  {"colour", group->colour},
                  {"runs", std::move(members)},
                  {"value", jsonOf(projects::meanOf(own.judged))},
                  {"training", jsonOf(projects::meanOf(own.training))}};
        rows.push_back({group->label, std::to_string(group->runs.size()),
                        projects::textOf(projects::meanOf(own.judged)),
                        projects::textOf(projects::meanOf(own.training))});
        const bool isBaseline = baseline && baseline->key == group->key;
        if (base != nullptr && !isBaseline) {
            const projects::PairedDifference judged = projects::differenceOf(own.judged, base->judged);
            const projects::PairedDifference trained = projects::differenceOf(own.training, base->training);
            told["difference"] = jsonOf(judged);
            told["trainingDifference"] = jsonOf(trained);
            rows.back().insert(rows.back().end(), {projects::textOf(judged), projects::textOf(trained)});
        } else if (base != nullptr) {
            rows.back().insert(rows.back().end(), {"baseline", "baseline"});
        }
        groups.push_back(std::move(told));
    }
    console.line(console.table(rows));
    if (baseline) {
        console.line("baseline: " + baseline->label + "; ± is the half width of the " +
                     percentText(projects::kConfidence) + " interval, over pairs of equal seeds");
    }
    console.value({{"quantity", quantity},
                   {"last", last},
                   {"baseline", baseline ? json(baseline->label) : json()},
                   {"confidence", projects::kConfidence},
                   {"groups", std::move(groups)}});
}

Exit runCompare(const Arguments& arguments, const Console& console)
{
    const Compared compared =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, comparedRuns(arguments.positionals(0), arguments.text("sweep"), console));
    std::optional<RunGroup> baseline;
    if (const std::string name = arguments.text("baseline"); !name.empty()) {
        baseline = RESIDUA_TRY_OR_FAIL(Exit::Usage,
                                       engine::groupNamed(compared.groups, compared.trained(), name, "--baseline"));
    }
    if (const std::string output = arguments.text("output"); !output.empty()) {
        if (!baseline) {
            return console.fail(Exit::Usage, {"--output", "needs --baseline, from which the differences are"});
        }
        return deliver({output, stepsCsv(compared, *baseline), "csv"}, "wrote " + output, {{"csv", output}}, console);
    }
    const auto longest = std::ranges::max_element(compared.infos, {}, &engine::RunInfo::steps);
    tell(compared, baseline, arguments.integer("last", engine::lastSteps(longest->steps)), console);
    return Exit::Ok;
}

} // namespace

std::vector<Command> compareCommands()
{
    return {
        {"compare",
         "compare runs by groups that differ in their seeds alone, with the differences from a baseline",
         "residua-cli compare my-project",
         {{{"RUNS",
            "runs, folders of runs such as that of a sweep, or a project",
            Presence::Repeated,
            {},
            Beside::Files}},
          {{"baseline", OptionKind::Text, "NAME",
            "tell how far each group is from this one, or from this run, over pairs of equal seeds, with the interval "
            "of 95 %"},
           {"sweep", OptionKind::Text, "NAME", "only the runs of this sweep"},
           {"last", OptionKind::Integer, "N",
            "the last steps of training that a mean covers (default: a tenth of them, at most 100)", "", 1},
           {"output", OptionKind::Text, "FILE",
            "write the differences of the training loss at each step as CSV; - is standard output", "o"}}},
         &runCompare},
    };
}

} // namespace residua::cli
