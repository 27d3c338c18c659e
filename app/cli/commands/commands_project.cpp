// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/console.h"
#include "app/cli/terminal/terminal_text.h"
#include "engine/base/api/data_summary.h"
#include "engine/base/api/rank_position.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/check/validate.h"
#include "projects/commands/tower_edits.h"
#include "projects/cost/cost.h"
#include "projects/depth/depth_names.h"
#include "projects/diff/diff.h"
#include "projects/edit/edit.h"
#include "projects/file/store.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/towers.h"
#include "projects/schema/describe_project.h"
#include "projects/schema/fields.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <type_traits>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr const char* kJoin = "join-stack";
constexpr std::int64_t kFedExamples = 16; ///< shown unless asked for others
constexpr std::int64_t kMostFedExamples = 1024;

/// The problems of a project and its data; the data's summary if the project itself is valid.
struct Judgement {
    std::vector<projects::Problem> problems;
    std::optional<engine::DataSummary> data;
    [[nodiscard]] bool valid() const { return !projects::hasErrors(problems); }
};

Judgement judged(const NamedProject& project)
{
    Judgement judgement{projects::validate(project.document.project), {}};
    if (judgement.valid()) {
        engine::DataJudgement data = engine::judgeData(project.document.project, project.directory);
        const bool wrong = projects::hasErrors(data.problems);
        judgement.problems.insert(wrong ? judgement.problems.begin() : judgement.problems.end(), data.problems.begin(),
                                  data.problems.end());
        judgement.data = std::move(data.summary);
    }
    return judgement;
}

/// Prints the notes on the data.
void showNotes(const engine::DataSummary& data, const Console& console)
{
    for (const std::string& note : data.notes) {
        console.line("note: " + note);
    }
}

/// Prints the changes of a project, and returns them as a JSON value.
json tellChanges(const projects::Project& before, const projects::Project& after, const Console& console)
{
    return mapped<json>(projects::diff(before, after), [&](const projects::Change& change) -> json {
        console.line(change.text());
        return {{"place", change.placeText()}, {"before", change.before}, {"after", change.after}};
    });
}

/// Joins the further stack that the arguments ask for, if any. Returns an error if they change nothing at all.
Status joinFurther(projects::Document& document, const Arguments& arguments)
{
    if (!arguments.has(kJoin)) {
        return arguments.positionals(1).empty()
                   ? Status(Error{"FIELD=VALUE", std::string("missing, expected a field and its value, or --") + kJoin})
                   : Status(Done{});
    }
    const Result<std::size_t> tower = projects::chosenTower(document.project, arguments.text(kJoin));
    return tower ? projects::applyEdit(document, projects::joinStack(document, *tower).edit)
                 : Status(Error{std::string("--") + kJoin, tower.error().message});
}

/// Sets fields of a project; changes nothing if one of them fails.
Exit runSet(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path given = arguments.positional(0);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(given, ignored) && given.filename() != projects::kProjectFile) {
        return console.fail(Exit::Usage, {"", "got \"" + given.string() + "\", expected a project's directory or its " +
                                                  projects::kProjectFile + ", which set writes to"});
    }
    projects::Document document = RESIDUA_TRY_OR_FAIL(Exit::InvalidProject, projects::loadProject(given));
    const projects::Project before = document.project;
    RESIDUA_TRY_OR_FAIL(Exit::Usage, joinFurther(document, arguments));
    const std::span<const std::string> texts = arguments.positionals(1);
    if (const Status set = setFields(document.project, {texts.begin(), texts.end()}, console, &document.layout.groups);
        !set) {
        return console.fail(Exit::Usage, set.error());
    }
    const std::filesystem::path directory = std::filesystem::is_directory(given, ignored) ? given : given.parent_path();
    RESIDUA_TRY_OR_FAIL(Exit::Usage, projects::saveProject(directory.empty() ? "." : directory, document));
    console.value({{"changes", tellChanges(before, document.project, console)}});
    const std::vector<projects::Problem> problems = projects::validate(document.project);
    for (const projects::Problem& problem : problems) {
        console.remark((problem.severity == projects::Severity::Error ? "error: " : "warning: ") + problem.text());
    }
    return projects::hasErrors(problems) ? Exit::InvalidProject : Exit::Ok;
}

Exit runValidate(const Arguments& arguments, const Console& console)
{
    const NamedProject project = RESIDUA_TRY(reported(openProject(arguments, console), console));
    const Judgement judgement = judged(project);
    const json list = tellProblems(judgement.problems, console);
    const bool valid = judgement.valid();
    json data = json::array();
    json notes = json::array();
    if (valid) {
        data = showReadings(judgement.data->readings, console);
        notes = judgement.data->notes;
        showNotes(*judgement.data, console);
        console.line("valid: " + printable(project.document.project.name, LineEnds::Escape));
    }
    console.value({{"valid", valid}, {"problems", list}, {"data", data}, {"notes", notes}});
    tellCures(judgement.problems, arguments.positional(0), console);
    if (!valid) {
        console.remark("the project is invalid: it cannot be trained");
    }
    return valid ? Exit::Ok : Exit::InvalidProject;
}

json costJson(const projects::Cost& cost)
{
    return {{"parameters", cost.parameters},       {"forwardFlops", cost.forwardFlops},
            {"trainFlops", cost.trainFlops},       {"activationBytes", cost.activationBytes},
            {"weightBytes", cost.weightBytes},     {"optimiserBytes", cost.optimiserBytes},
            {"lossBytes", cost.lossBytes},         {"sentBytes", cost.sentBytes()},
            {"momentsSentBytes", cost.momentsSent}};
}

std::vector<std::string> costRow(const std::string& part, const projects::Cost& cost)
{
    return {part,
            groupedText(cost.parameters),
            scaled(cost.forwardFlops),
            scaled(cost.trainFlops),
            scaledBytes(cost.activationBytes),
            scaledBytes(cost.weightBytes),
            scaledBytes(cost.optimiserBytes),
            scaledBytes(cost.lossBytes)};
}

/// Adds the layers; neighbouring layers with the same cost share a row.
void addLayers(std::vector<std::vector<std::string>>& rows, const projects::Stack& stack,
               const std::vector<projects::Cost>& layers)
{
    const auto named = [&stack](std::size_t layer) {
        return projects::layerName(stack, static_cast<std::int64_t>(layer));
    };
    for (std::size_t first = 0; first < layers.size();) {
        std::size_t end = first + 1;
        while (end < layers.size() && layers[end] == layers[first]) {
            ++end;
        }
        const std::string name =
            end == first + 1 ? "layer " + named(end) : "layers " + named(first + 1) + "–" + named(end) + ", each";
        rows.push_back(costRow(name, layers[first]));
        first = end;
    }
}

/// Shows the texts of a mixture, one per row.
void showParts(const engine::DataSummary& data, const Console& console)
{
    const auto rounded = [](double value) { return numberText(value, 3); };
    std::vector<std::vector<std::string>> rows{{"part", "share", "training tokens", "gone through", "validation tokens",
                                                "of them validated on", "test tokens"}};
    for (const engine::DataPartSummary& part : data.parts) {
        rows.push_back({printable(part.path, LineEnds::Escape), rounded(100 * part.share) + " %",
                        groupedText(part.train), rounded(part.passes) + " times", groupedText(part.validation),
                        groupedText(part.validated), groupedText(part.test)});
    }
    if (!data.parts.empty()) {
        console.line("\n" + console.table(rows));
    }
}

json textsJson(const engine::DataSummary& data)
{
    return mapped<json>(data.texts, [](const engine::TextCount& count) -> json {
        return {{"texts", count.texts}, {"tokens", count.tokens}};
    });
}

json partsJson(const engine::DataSummary& data)
{
    return mapped<json>(data.parts, [](const engine::DataPartSummary& part) -> json {
        return {{"path", part.path},   {"share", part.share},           {"passes", part.passes},
                {"train", part.train}, {"validation", part.validation}, {"validated", part.validated},
                {"test", part.test}};
    });
}

json showData(const engine::DataSummary& data, const Console& console)
{
    const projects::ExampleField& input = data.examples.input();
    const projects::ExampleField& target = data.examples.target();
    std::string shape = input.isTokens() ? "tokens, vocabulary " + groupedText(input.vocabulary)
                                         : "vectors, " + groupedText(input.shape.features()) + " in";
    if (!target.isTokens()) {
        shape += ", " + groupedText(target.shape.features()) + " out";
    } else if (!(target.shape == input.shape)) {
        shape += ", " + groupedText(target.vocabulary) + " classes";
    }
    console.line("data: " + shape + "; " + splitsText(data));
    json readings = showReadings(data.readings, console);
    showParts(data, console);
    showNotes(data, console);
    return readings;
}

json showCost(const projects::SoundProject& project, const std::string& device, std::int64_t ranks,
              const Console& console)
{
    const projects::CostReport report = projects::costOf(project, projects::deviceKindOf(device), ranks);
    const std::string unit = projects::unitWord(project->data);
    std::vector<std::vector<std::string>> rows{{"part", "parameters", "forward FLOP/" + unit, "training FLOP/" + unit,
                                                "activations", "weights", "optimiser", "loss, peak"}};
    rows.push_back(costRow("stem", report.stem));
    addLayers(rows, project->stack(), report.layers);
    rows.push_back(costRow("topology", report.topology));
    rows.push_back(costRow("head", report.head));
    json towers = json::object();
    for (const auto& [name, cost] : report.towers) {
        towers[name] = costJson(cost);
        if (name != project->network.name) {
            rows.push_back(costRow("tower " + name, cost));
        }
    }
    rows.push_back(costRow("total", report.total));
    console.line("\n" + console.table(rows));
    const std::string share = ranks > 1 ? " for each of " + std::to_string(ranks) + " ranks" : "";
    console.line("\nmemory of a training step on " + device + share + ": " + scaledBytes(report.total.memoryBytes()));
    if (ranks > 1) {
        const double moments = report.total.momentsSent;
        console.line("sent by each rank in a training step: " + scaledBytes(report.total.sentBytes()) +
                     (moments > 0 ? ", of which " + scaledBytes(moments) + " for the moments of batch norms" : ""));
    }
    auto layers = mapped<json>(report.layers, [&](const projects::Cost& layer) { return costJson(layer); });
    return {{"device", device},
            {"memoryBytes", report.total.memoryBytes()},
            {"total", costJson(report.total)},
            {"stem", costJson(report.stem)},
            {"layers", layers},
            {"topology", costJson(report.topology)},
            {"head", costJson(report.head)},
            {"towers", towers}};
}

json jsonOf(const projects::FieldEntry& field)
{
    if (field.type == projects::FieldType::Choice) {
        return std::string(field.choices[static_cast<std::size_t>(std::get<std::int64_t>(field.value))].name);
    }
    return std::visit(
        []<class T>(const T& held) {
            if constexpr (std::is_same_v<T, std::monostate>) {
                return json();
            } else {
                return json(held);
            }
        },
        field.value);
}

/// Shows the number of layers and the loops.
void showStack(const projects::Project& project, const Console& console, json& value)
{
    const projects::Stack& stack = project.stack();
    const std::string layers = stack.loops.empty() ? countText(static_cast<std::size_t>(stack.depth()), "layer")
                                                   : groupedText(stack.stored()) + " stored layers, " +
                                                         groupedText(stack.depth()) + " executed,";
    console.line("network: " + layers + " of width " + groupedText(stack.width) + ", topology " +
                 stack.topology.preset);
    value["stored"] = stack.stored();
    value["loops"] = json::array();
    for (std::size_t i = 0; i < stack.loops.size(); ++i) {
        const projects::Loop& loop = stack.loops[i];
        const std::string pointer = "/network/loops/" + std::to_string(i);
        std::string options;
        json fields = json::object();
        for (const projects::FieldEntry& field : projects::fieldsOf(project, pointer)) {
            const std::string key = field.pointer.substr(pointer.size() + 1);
            fields[key] = jsonOf(field);
            const bool isRange = key == "first" || key == "last" || key == "visits";
            if (!isRange && field.value != field.defaultValue) {
                options += "; " + std::string(field.field.title) + ": " +
                           (fields[key].is_string() ? fields[key].get<std::string>() : fields[key].dump());
            }
        }
        value["loops"].push_back(fields);
        console.line("loop: layers " + std::to_string(loop.first) + "–" + std::to_string(loop.last) + " are visited " +
                     groupedText(loop.visits) + " times" + options);
    }
}

/// Shows the towers beside the first one, and the further losses.
void showTowers(const projects::Project& project, const Console& console)
{
    for (const projects::Tower& tower : project.towers) {
        const projects::Network& network = tower.network;
        console.line("tower " + printable(network.name, LineEnds::Escape) + ": " +
                     countText(static_cast<std::size_t>(network.depth()), "layer") + " of width " +
                     groupedText(network.stack().width) + ", topology " + network.stack().topology.preset +
                     (network.input.empty() ? "" : "; reads " + printable(network.input, LineEnds::Escape)) +
                     (network.frozen ? "; frozen" : ""));
    }
    for (const projects::Loss& loss : project.losses) {
        const std::string target =
            loss.target.empty() ? "the examples' target" : printable(loss.target, LineEnds::Escape);
        console.line("loss " + printable(loss.name + ": " + loss.output, LineEnds::Escape) +
                     (projects::hasTarget(loss.kind) ? " and " + target : "") + ", " +
                     std::string(choiceOf(loss.kind).title) + ", weight " + numberText(loss.weight));
    }
}

/// Describes a project even if it is invalid: its cost if the network is sound, and its problems.
Exit runInfo(const Arguments& arguments, const Console& console)
{
    const NamedProject opened = RESIDUA_TRY(reported(openProject(arguments, console), console));
    const projects::Project& project = opened.document.project;
    const Judgement judgement = judged(opened);
    const bool valid = judgement.valid();
    json value = {{"name", project.name},
                  {"depth", project.network.depth()},
                  {"width", project.stack().width},
                  {"topology", project.stack().topology.preset},
                  {"valid", valid}};
    console.line(printable(project.name, LineEnds::Escape) +
                 (project.description.empty() ? "" : ": " + project.description));
    showStack(project, console, value);
    showTowers(project, console);
    if (const auto& data = judgement.data) {
        const json readings = showData(*data, console);
        value["data"] = {{"vocabulary", data->examples.input().vocabulary},
                         {"train", data->train},
                         {"validation", data->validation},
                         {"test", data->test},
                         {"texts", textsJson(*data)},
                         {"parts", partsJson(*data)},
                         {"readings", readings},
                         {"notes", data->notes}};
    }
    if (const Result<projects::SoundProject> sound = projects::soundProject(project)) {
        value["cost"] = showCost(*sound, arguments.text("device", "cpu"), arguments.integer("ranks", 1), console);
    }
    if (!valid) {
        value["problems"] = tellProblems(judgement.problems, console);
    }
    console.value(value);
    return valid ? Exit::Ok : Exit::InvalidProject;
}

Exit runDiff(const Arguments& arguments, const Console& console)
{
    const NamedProject before = RESIDUA_TRY_OR_FAIL(Exit::InvalidProject, openProject(arguments.positional(0)));
    const NamedProject after = RESIDUA_TRY(reported(openProject(arguments.positional(1), arguments, console), console));
    const json list = tellChanges(before.document.project, after.document.project, console);
    if (list.empty()) {
        console.line("no difference in meaning");
    }
    console.value(list);
    return Exit::Ok;
}

/// Prints or writes the first batch that training feeds to the network.
Exit runData(const Arguments& arguments, const Console& console)
{
    const NamedProject opened = RESIDUA_TRY(reported(openProject(arguments, console), console));
    if (const auto error = obstacle(opened.document.project, console)) {
        return console.fail(Exit::InvalidProject, *error);
    }
    const engine::FedBatch fed =
        RESIDUA_TRY_OR_FAIL(Exit::InvalidProject, engine::firstFedBatch(opened.document.project, opened.directory,
                                                                        arguments.integer("count", kFedExamples)));
    auto list = mapped<json>(fed.examples, [](const engine::FedExample& example) -> json {
        return {{"input", example.input}, {"target", example.target}};
    });
    const std::string path = arguments.text("output");
    if (!path.empty() && fed.sheet.empty()) {
        return console.fail(Exit::Usage, {"--output", "is for pictures"});
    }
    if (isStandardOutput(path)) {
        return console.fail(Exit::Usage, {"--output", "expected a file's name"});
    }
    const auto columns = static_cast<std::size_t>(fed.columns);
    for (std::size_t i = 0; i < fed.examples.size(); ++i) {
        const auto& [input, target] = fed.examples[i];
        const std::string place =
            columns == 0 ? std::to_string(i + 1)
                         : "row " + std::to_string(i / columns + 1) + ", column " + std::to_string(i % columns + 1);
        const std::string text = input.empty() ? std::string() : "  " + printable(input, LineEnds::Escape);
        console.line(place + text + (target.empty() ? "" : "  → " + printable(target, LineEnds::Escape)));
    }
    if (path.empty()) {
        console.value({{"examples", list}});
        return Exit::Ok;
    }
    return deliver({path, fed.sheet, "sheet"}, "wrote " + path, {{"examples", list}, {"output", path}}, console);
}

} // namespace

std::vector<Command> projectCommands()
{
    return {
        {"set",
         "write fields of a project, and say what changes; ends with 2 if the project is then invalid",
         "residua-cli set my-project training.batch=8",
         {{{"PROJECT", "a project's directory or its project.json"},
           {"FIELD=VALUE", "a field by its pointer or with dots, and its value (residua-cli explain fields lists them)",
            Presence::AnyNumber, fieldWords()}},
          {{kJoin, OptionKind::Text, "TOWER",
            "first, let a copy of this tower without its head run before it, and this tower read its output through a "
            "linear joint: a further stack"}}},
         &runSet},
        {"validate",
         "check a project and its data",
         "residua-cli validate my-project",
         {{projectArgument()}, {setOption()}},
         &runValidate},
        {"info",
         "show a project's size and cost, part by part",
         "residua-cli info my-project --device cuda:0",
         {{projectArgument()},
          {setOption(), deviceOption(),
           integerOption("ranks", "N",
                         "state the memory of one of N ranks, which divide the batch, and the bytes that it sends in "
                         "a step (default 1)",
                         1, engine::kMostRanks)}},
         &runInfo},
        {"data",
         "show the first batch that training feeds to the network: pictures after their random changes, text with its "
         "hidden tokens as [shown→hidden], and the targets",
         "residua-cli data small-vit -o batch.png",
         {{projectArgument()},
          {setOption(),
           integerOption("count", "N",
                         "at most N examples of the batch (default: " + std::to_string(kFedExamples) + ")", 1,
                         kMostFedExamples),
           {"output", OptionKind::Text, "FILE.png", "write the pictures too, in rows", "o"}}},
         &runData},
        {"diff",
         "show what differs in meaning between two projects",
         "residua-cli diff my-project plain-language",
         {{offering(PositionalSpec{"A", "a project"}, exampleNames(), Beside::Files),
           offering(PositionalSpec{"B", "another"}, exampleNames(), Beside::Files)},
          {setOption("in B, ")}},
         &runDiff},
    };
}

} // namespace residua::cli
