// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/project_argument.h"
#include "app/cli/terminal_text.h"
#include "engine/api/data_summary.h"
#include "projects/cost.h"
#include "projects/diff.h"
#include "projects/presets.h"
#include "projects/store.h"
#include "projects/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace residua::cli {
namespace {

using nlohmann::json;

Exit listExamples(const Console& console)
{
    std::vector<std::vector<std::string>> rows;
    json list = json::array();
    for (const projects::Example& example : projects::examples()) {
        console.line(example.name + ": " + example.title + "\n    " + example.summary);
        list.push_back({{"name", example.name}, {"title", example.title}, {"summary", example.summary}});
    }
    console.value(list);
    return Exit::Ok;
}

Exit runNew(const Arguments& arguments, const Console& console)
{
    if (arguments.has("list")) {
        return listExamples(console);
    }
    const std::filesystem::path directory = arguments.positional(0);
    if (directory.empty()) {
        return console.fail(Exit::Usage, {"", "missing argument DIR: where the project is to be made"});
    }
    const std::string name = arguments.text("example", projects::examples().front().name);
    const projects::Example* const example = projects::findExample(name);
    if (example == nullptr) {
        std::vector<std::string> names;
        for (const projects::Example& known : projects::examples()) {
            names.push_back(known.name);
        }
        const std::string meant = nearest(name, names);
        return console.fail(Exit::Usage, {"--example", "no example \"" + name + "\"" +
                                                           (meant.empty() ? "; residua-cli new --list shows them"
                                                                          : ", did you mean " + meant + "?")});
    }
    std::error_code ignored;
    if (std::filesystem::exists(directory / projects::kProjectFile, ignored)) {
        return console.fail(Exit::Usage, {directory.string(), "there is a project already"});
    }
    projects::Document document;
    document.project = example->project;
    if (const Status saved = projects::saveProject(directory, document); !saved) {
        return console.fail(Exit::Usage, saved.error());
    }
    console.line("made " + (directory / projects::kProjectFile).string() + " (" + example->title + ")");
    console.line("train it with: residua-cli train " + directory.string());
    console.value({{"project", directory.string()}, {"example", name}});
    return Exit::Ok;
}

Exit runValidate(const Arguments& arguments, const Console& console)
{
    const Result<NamedProject> project = openProject(arguments.positional(0));
    if (!project) {
        return console.fail(Exit::InvalidProject, project.error());
    }
    std::vector<projects::Problem> problems = projects::validate(project->document.project);
    if (!projects::hasErrors(problems)) {
        const Result<engine::DataSummary> data = engine::summariseData(project->document.project, project->directory);
        if (!data) {
            problems.insert(problems.begin(),
                            {projects::Severity::Error, "/data", data.error().place, data.error().message});
        }
    }
    json list = json::array();
    for (const projects::Problem& problem : problems) {
        const bool isError = problem.severity == projects::Severity::Error;
        console.line((isError ? "error: " : "warning: ") + problem.text());
        list.push_back({{"severity", isError ? "error" : "warning"},
                        {"path", problem.path},
                        {"place", problem.place},
                        {"message", problem.message}});
    }
    const bool valid = !projects::hasErrors(problems);
    if (valid) {
        console.line("valid: " + printable(project->document.project.name, LineEnds::Escape));
    }
    console.value({{"valid", valid}, {"problems", list}});
    if (!valid) {
        console.remark("the project is invalid: it cannot be trained");
    }
    return valid ? Exit::Ok : Exit::InvalidProject;
}

json costJson(const projects::Cost& cost)
{
    return {{"parameters", cost.parameters},   {"forwardFlops", cost.forwardFlops},
            {"trainFlops", cost.trainFlops},   {"activationBytes", cost.activationBytes},
            {"weightBytes", cost.weightBytes}, {"optimiserBytes", cost.optimiserBytes}};
}

std::vector<std::string> costRow(const std::string& part, const projects::Cost& cost)
{
    return {part,
            grouped(cost.parameters),
            scaled(cost.forwardFlops),
            scaled(cost.trainFlops),
            bytesText(cost.activationBytes),
            bytesText(cost.weightBytes),
            bytesText(cost.optimiserBytes)};
}

/// Neighbouring layers that cost the same are one row.
void addLayers(std::vector<std::vector<std::string>>& rows, const std::vector<projects::Cost>& layers)
{
    for (std::size_t first = 0; first < layers.size();) {
        std::size_t end = first + 1;
        while (end < layers.size() && layers[end] == layers[first]) {
            ++end;
        }
        const std::string name = end == first + 1
                                     ? "layer " + std::to_string(end)
                                     : "layers " + std::to_string(first + 1) + "–" + std::to_string(end) + ", each";
        rows.push_back(costRow(name, layers[first]));
        first = end;
    }
}

void showData(const engine::DataSummary& data, const Console& console)
{
    const auto count = [](std::int64_t units) { return units < 0 ? std::string("endless") : grouped(units); };
    const std::string shape = data.language
                                  ? "tokens, vocabulary " + grouped(data.vocabulary)
                                  : "vectors, " + grouped(data.inputs) + " in, " + grouped(data.outputs) + " out";
    console.line("data: " + shape + "; train " + count(data.train) + ", validation " + count(data.validation) +
                 ", test " + count(data.test));
}

Exit runInfo(const Arguments& arguments, const Console& console)
{
    const Result<NamedProject> opened = openProject(arguments.positional(0));
    if (!opened) {
        return console.fail(Exit::InvalidProject, opened.error());
    }
    const projects::Project& project = opened->document.project;
    const Result<projects::CostReport> report = projects::costOf(project);
    if (!report) {
        return console.fail(Exit::InvalidProject, report.error());
    }
    const std::string unit = projects::isLanguage(project.data) ? "token" : "sample";
    console.line(printable(project.name, LineEnds::Escape) +
                 (project.description.empty() ? "" : ": " + project.description));
    console.line("network: " + grouped(project.network.depth()) + " layers of width " + grouped(project.network.width) +
                 ", topology " + project.topology.preset);
    const Result<engine::DataSummary> data = engine::summariseData(project, opened->directory);
    if (data) {
        showData(*data, console);
    } else {
        console.line("data: " + data.error().text());
    }
    std::vector<std::vector<std::string>> rows{
        {"part", "parameters", "forward FLOP/" + unit, "training FLOP/" + unit, "activations", "weights", "optimiser"}};
    rows.push_back(costRow("stem", report->stem));
    addLayers(rows, report->layers);
    rows.push_back(costRow("topology", report->topology));
    rows.push_back(costRow("head", report->head));
    rows.push_back(costRow("total", report->total));
    console.line("\n" + table(rows));
    json layers = json::array();
    for (const projects::Cost& layer : report->layers) {
        layers.push_back(costJson(layer));
    }
    json value = {{"name", project.name},
                  {"depth", project.network.depth()},
                  {"width", project.network.width},
                  {"topology", project.topology.preset},
                  {"cost",
                   {{"total", costJson(report->total)},
                    {"stem", costJson(report->stem)},
                    {"layers", layers},
                    {"topology", costJson(report->topology)},
                    {"head", costJson(report->head)}}}};
    if (data) {
        value["data"] = {{"vocabulary", data->vocabulary},
                         {"train", data->train},
                         {"validation", data->validation},
                         {"test", data->test}};
    }
    console.value(value);
    return Exit::Ok;
}

Exit runDiff(const Arguments& arguments, const Console& console)
{
    const Result<NamedProject> before = openProject(arguments.positional(0));
    const Result<NamedProject> after = openProject(arguments.positional(1));
    if (!before || !after) {
        return console.fail(Exit::InvalidProject, before ? after.error() : before.error());
    }
    json list = json::array();
    const std::vector<projects::Change> changes = projects::diff(before->document.project, after->document.project);
    for (const projects::Change& change : changes) {
        console.line(change.text());
        list.push_back({{"place", change.place}, {"before", change.before}, {"after", change.after}});
    }
    if (changes.empty()) {
        console.line("no difference in meaning");
    }
    console.value(list);
    return Exit::Ok;
}

const PositionalSpec kProject{"PROJECT", "a project's directory, its project.json, or an example's name"};

} // namespace

std::vector<Command> projectCommands()
{
    return {
        {"new",
         "make a project from an example",
         "residua-cli new my-project",
         {{{"DIR", "where to make it; the directory may exist", Presence::Optional}},
          {{"example", OptionKind::Text, "NAME", "which example (default: the first of --list)"},
           {"list", OptionKind::Flag, "", "list the examples"}}},
         &runNew},
        {"validate", "check a project and its data", "residua-cli validate my-project", {{kProject}, {}}, &runValidate},
        {"info",
         "show a project's size and cost, part by part",
         "residua-cli info my-project",
         {{kProject}, {}},
         &runInfo},
        {"diff",
         "show what differs in meaning between two projects",
         "residua-cli diff my-project plain-language",
         {{{"A", "a project"}, {"B", "another"}}, {}},
         &runDiff},
    };
}

} // namespace residua::cli
