// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/named_runs.h"
#include "engine/runs/results/teaching.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace residua::cli {
namespace {

/// Returns the command that tries the model.
std::string trialOf(const std::filesystem::path& run)
{
    const Result<projects::Project> project = projectOfRun(run);
    const auto use = project ? projects::sampleUseOf(project->network.objective) : projects::SampleUse::None;
    return use == projects::SampleUse::None
               ? "eval " + run.string()
               : "sample " + run.string() + (use == projects::SampleUse::Fill ? " --prompt \"… [MASK] …\"" : "");
}

void showImport(const engine::ImportReady& ready, const Console& console)
{
    remarkNotes(ready.notes, console);
    console.line("made " + ready.projectDirectory.string() + ": " + ready.architecture + ", " +
                 groupedText(ready.layers) + (ready.layers == 1 ? " layer, " : " layers, ") +
                 groupedText(ready.parameters) + " parameters, from " + ready.type);
    console.line("its weights are the checkpoint of step 0 in " + ready.runDirectory.string());
    console.line("try it with: residua-cli " + trialOf(ready.runDirectory));
    console.value({{"project", ready.projectDirectory.string()},
                   {"run", ready.runDirectory.string()},
                   {"architecture", ready.architecture},
                   {"layers", ready.layers},
                   {"parameters", ready.parameters},
                   {"type", ready.type},
                   {"notes", ready.notes}});
}

void showWeights(const engine::LoadWeightsReady& ready, const Console& console)
{
    std::vector<std::vector<std::string>> rows{{"parameter", "tensor", ""}};
    nlohmann::json list = nlohmann::json::array();
    for (const engine::LoadWeightsReady::Row& row : ready.rows) {
        rows.push_back({row.parameter, row.tensor.empty() ? "–" : row.tensor, row.fits ? "fits" : row.message});
        list.push_back(
            {{"parameter", row.parameter}, {"tensor", row.tensor}, {"fits", row.fits}, {"message", row.message}});
    }
    console.line(console.table(rows));
    remarkNotes(ready.notes, console);
    for (const std::string& name : ready.unused) {
        console.remark("left over: " + name);
    }
    console.line("what does not fit starts as the project says; " +
                 (ready.runDirectory.empty() ? "nothing is written" : "run " + ready.runDirectory.string()));
    console.value(
        {{"run", ready.runDirectory.string()}, {"parameters", list}, {"unused", ready.unused}, {"notes", ready.notes}});
}

/// Asks for the weights of the request, whose project and file are set, in the folder of a named project.
ValueOr<engine::LoadWeightsReady, Exit> loaded(engine::LoadWeightsRequest request,
                                               const std::filesystem::path& directory, const Arguments& arguments,
                                               const Console& console)
{
    request.projectDirectory = RESIDUA_TRY_OR_FAIL(Exit::Usage, absolutePath(directory));
    return answerOf(request, console, Computing::from(arguments), shareTeller(console, "weights: "),
                    "nothing is written");
}

/// Runs import --onto: loads the tensors of one file into a project.
Exit runOnto(const Arguments& arguments, const Console& console)
{
    const NamedProject project =
        RESIDUA_TRY(reported(openProject(arguments.text("onto"), arguments, console), console));
    const std::filesystem::path file = RESIDUA_TRY_OR_FAIL(Exit::Usage, absolutePath(arguments.positional(0)));
    engine::LoadWeightsRequest request =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::LoadWeightsRequest>(arguments));
    request.file = file;
    request.project = project.document.project;
    const engine::LoadWeightsReady ready = RESIDUA_TRY(loaded(request, project.directory, arguments, console));
    showWeights(ready, console);
    return Exit::Ok;
}

/// Runs teach: makes a run of a student whose teacher has the weights of another run.
Exit runTeach(const Arguments& arguments, const Console& console)
{
    const NamedProject student = RESIDUA_TRY(reported(openProject(arguments, console), console));
    const engine::Teaching teaching = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::Teaching>(arguments));
    const engine::TaughtStudent taught =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::taughtStudent(student.document.project, teaching));
    engine::LoadWeightsRequest request =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::LoadWeightsRequest>(arguments));
    request.file = taught.weights.file;
    request.tower = taught.weights.tower;
    request.project = taught.weights.project;
    const engine::LoadWeightsReady ready = RESIDUA_TRY(loaded(request, student.directory, arguments, console));
    if (request.dryRun) {
        showWeights(ready, console);
        return Exit::Ok;
    }
    const auto known = std::ranges::count(ready.rows, true, &engine::LoadWeightsReady::Row::fits);
    remarkNotes(ready.notes, console);
    console.line("run " + ready.runDirectory.string() + ": tower " + request.tower + " has " + groupedText(known) +
                 " tensors of step " + groupedText(taught.step) + " of " + teaching.run.filename().string() +
                 "; the student starts as its project says");
    console.line("train it with: residua-cli resume " + ready.runDirectory.string());
    console.value(
        {{"run", ready.runDirectory.string()}, {"tower", request.tower}, {"tensors", known}, {"step", taught.step}});
    return Exit::Ok;
}

std::vector<OptionSpec> teachOptions()
{
    using Weights = engine::LoadWeightsRequest;
    std::vector<OptionSpec> options = optionsOf<engine::Teaching>();
    for (OptionSpec option :
         {optionNamed<Weights>("output"), optionNamed<Weights>("dry-run"), setOption(), threadsOption()}) {
        options.push_back(std::move(option));
    }
    return options;
}

Exit runImport(const Arguments& arguments, const Console& console)
{
    if (arguments.has("onto")) {
        return runOnto(arguments, console);
    }
    for (const std::string name : {"set", "tower", "dry-run"}) {
        if (arguments.has(name)) {
            return console.fail(Exit::Usage, {"--" + name, "is for the project of --onto, and none is named"});
        }
    }
    engine::ImportRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::ImportRequest>(arguments));
    const std::filesystem::path folder = RESIDUA_TRY_OR_FAIL(Exit::Usage, absolutePath(arguments.positional(0)));
    request.folder = folder;
    if (namesData(arguments)) {
        const projects::Source data = RESIDUA_TRY_OR_FAIL(Exit::Usage, dataSource(arguments, request.projectDirectory));
        request.data = data;
    }
    const std::optional<engine::Event> answer =
        ask(request, console, Computing::from(arguments), shareTeller(console, "weights: "));
    const auto* const ready = answer ? std::get_if<engine::ImportReady>(&*answer) : nullptr;
    const auto* const failed = answer ? std::get_if<engine::QueryFailed>(&*answer) : nullptr;
    if (failed != nullptr && !failed->details.empty()) {
        console.value({{"unfit", failed->details}});
    }
    if (ready == nullptr) {
        return unanswered(answer, console, "nothing is written");
    }
    showImport(*ready, console);
    return Exit::Ok;
}

} // namespace

std::vector<Command> importCommands()
{
    return {
        {"import",
         "make a project and a run of a model that Hugging Face's transformers has saved",
         "residua-cli import llama -o imported",
         {{{"FOLDER", "config.json and model.safetensors, or the several files that its index names; with --onto a "
                      "single safetensors file"}},
          {optionsOf<engine::ImportRequest>().front(),
           offering(OptionSpec{"onto", OptionKind::Text, "PROJECT",
                               "put the tensors of the file where name and shape fit this project's network, and list "
                               "what does not"},
                    exampleNames(), Beside::Files),
           setOption("with --onto: "),
           optionNamed<engine::LoadWeightsRequest>("tower"),
           optionNamed<engine::LoadWeightsRequest>("dry-run"),
           {"data", OptionKind::Text, "PATH",
            "what it is to be trained on: a text, JSON Lines (.jsonl), Parquet or ready-made tokens (.bin), or a "
            "folder of such; for a classifier a table of texts with labels (.csv) or a folder of pictures by class"},
           mixOption(),
           fieldOption(),
           labelOption(),
           threadsOption()}},
         &runImport,
         Yields::Files},
        {"teach",
         "make a run of a student that learns from the outputs of a trained teacher too",
         "residua-cli teach my-project --set topology=dca --teacher my-project/runs/first -o my-project/runs/student",
         {{projectArgument()}, teachOptions()},
         &runTeach,
         Yields::Files},
    };
}

} // namespace residua::cli
