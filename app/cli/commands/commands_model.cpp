// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/data_argument.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/named_runs.h"
#include "engine/base/api/reading.h"
#include "engine/runs/results/loss_measures.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/model/data_source.h"
#include "projects/nodes/towers.h"
#include "projects/schema/method_keys.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/ties.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace residua::cli {
namespace {

constexpr const char* kChoices = "choices";

Exit tellChoices(const engine::EvaluationReady& ready, std::int64_t shots, const Console& console)
{
    const auto mean = [&](const char* name) { return ready.means.at(name); };
    console.line("right in " + percentText(mean("accuracy")) + ", by the mean over tokens " +
                 percentText(mean("accuracy_by_token")) + ", of " +
                 countText(static_cast<std::size_t>(ready.batches), "question") + " with " +
                 countText(static_cast<std::size_t>(shots), "shot") + "; loss of the answers " +
                 lossText(mean("loss")) + ", at step " + groupedText(ready.step));
    console.value({{"accuracy", mean("accuracy")},
                   {"accuracyByToken", mean("accuracy_by_token")},
                   {"loss", mean("loss")},
                   {"questions", ready.batches},
                   {"shots", shots},
                   {"step", ready.step},
                   {"notes", ready.notes}});
    return Exit::Ok;
}

/// Shows the distance of made images from those of a part of the data.
Exit tellFeatures(const engine::EvaluationReady& ready, engine::Split split, const Console& console)
{
    console.line(engine::comparisonText(ready, split));
    console.value({{"split", engine::nameOf(split).word},
                   {"quantities", ready.means},
                   {"images", ready.batches},
                   {"features", ready.features},
                   {"step", ready.step},
                   {"notes", ready.notes}});
    return Exit::Ok;
}

Exit runEval(const Arguments& arguments, const Console& console)
{
    Result<engine::EvaluateRequest> request = requestFrom<engine::EvaluateRequest>(arguments);
    if (request && arguments.has(kChoices)) {
        Result<std::string> text = readFile(arguments.text(kChoices), engine::kMostChoicesBytes);
        if (!text || text->empty()) {
            request =
                text ? Error{arguments.text(kChoices), "is empty, expected a question in each line"} : text.error();
        } else {
            request->choices = *std::move(text);
        }
    }
    if (request && !request->features.empty()) { // an engine in the background has a working directory of its own
        request->features = std::filesystem::absolute(request->features).lexically_normal();
    }
    const engine::EvaluationReady ready = RESIDUA_TRY(answerTo(request, arguments, console));
    if (!request->choices.empty() || request->questions > 0) {
        return tellChoices(ready, request->shots, console);
    }
    if (!request->features.empty()) {
        return tellFeatures(ready, request->split, console);
    }
    const std::string split(engine::nameOf(request->split).word);
    const Result<projects::Project> project = projectOfRun(request->of.runDirectory);
    const double loss = ready.means.at("loss");
    const auto measures = project ? engine::measuresOf(*project, loss) : std::nullopt;
    std::string also = measures ? " (" + engine::measuresText(*project, loss) + ")" : "";
    for (const auto& [quantity, mean] : ready.means) {
        also += quantity == "loss" ? "" : ", " + quantity + " " + lossText(mean);
    }
    const bool bits = measures && measures->bitsPerByte;
    console.line(split + " loss " + lossText(loss) + also + " over " + groupedText(ready.batches) +
                 " batches, at step " + groupedText(ready.step));
    console.value({{"split", split},
                   {"loss", loss},
                   {"quantities", ready.means},
                   {"perplexity", measures ? nlohmann::json(measures->perplexity) : nlohmann::json()},
                   {"bitsPerByte", bits ? nlohmann::json(*measures->bitsPerByte) : nlohmann::json()},
                   {"batches", ready.batches},
                   {"step", ready.step},
                   {"notes", ready.notes}});
    return Exit::Ok;
}

/// Shows the candidates of each masked position or example, and the text with the best ones.
void showMasked(const engine::SampleReady& ready, const Console& console)
{
    const std::vector<engine::FedExample>& examples = ready.classified.examples;
    std::vector<std::vector<std::string>> rows{{"place", "prediction", "probability"}};
    const bool isLabelled = std::ranges::any_of(examples, [](const auto& example) { return !example.target.empty(); });
    if (isLabelled) {
        rows.front().emplace_back("labelled");
    }
    nlohmann::json places = nlohmann::json::array();
    for (const engine::MaskedPosition& place : ready.masked) {
        nlohmann::json said{{"position", place.position}, {"candidates", nlohmann::json::array()}};
        engine::FedExample example;
        if (const auto at = static_cast<std::size_t>(place.position); at < examples.size()) {
            example = examples[at];
            said["input"] = example.input;
            if (isLabelled) {
                said["class"] = example.target;
            }
        }
        for (const engine::TokenCandidate& each : place.candidates) {
            const bool first = &each == &place.candidates.front();
            rows.push_back(
                {first ? groupedText(place.position) : "", visible(each.token), numberText(each.probability, 4)});
            if (first && isLabelled) {
                rows.back().push_back(example.target);
            }
            said["candidates"].push_back({{"token", each.token}, {"probability", each.probability}});
        }
        places.push_back(std::move(said));
    }
    console.line(console.table(rows));
    console.value({{"text", ready.text}, {"masked", places}, {"step", ready.step}, {"notes", ready.notes}});
}

/// Returns a float array [images, values] as numpy.save writes it.
std::string numpyBytes(const engine::Matrix& values)
{
    static_assert(std::endian::native == std::endian::little);
    constexpr std::size_t kPrefix = 10;
    constexpr std::size_t kAlignment = 64;
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.rows) + ", " +
                         std::to_string(values.columns) + "), }";
    header.append((kAlignment - (kPrefix + header.size() + 1) % kAlignment) % kAlignment, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xFFU);
    bytes += static_cast<char>(header.size() >> 8U);
    bytes += header;
    const std::size_t at = bytes.size();
    bytes.resize(at + values.values.size() * sizeof(float));
    std::memcpy(bytes.data() + at, values.values.data(), values.values.size() * sizeof(float));
    return bytes;
}

constexpr const char* kNumpyEnding = ".npy";

/// Writes the images that were made to a file: a picture of all, or an array.
Exit writeImages(const engine::SampleReady& ready, const std::string& path, const Console& console)
{
    RESIDUA_TRY_OR_FAIL(Exit::RunFailed,
                        writeOutput(path, path.ends_with(kNumpyEnding) ? numpyBytes(ready.values) : ready.made.sheet));
    auto classes = mapped<std::vector<std::string>>(ready.made.examples, &engine::FedExample::target);
    console.line(groupedText(static_cast<std::int64_t>(classes.size())) + " images in " + path);
    console.value({{"images", path}, {"classes", classes}, {"step", ready.step}, {"notes", ready.notes}});
    return Exit::Ok;
}

/// Checks that images have a file to go to, and that nothing else has.
Status checkOutput(const Result<projects::Project>& project, const Arguments& arguments)
{
    const bool makes = project && projects::sampleUseOf(project->network.objective) == projects::SampleUse::Generate;
    const std::string path = arguments.has("output") ? arguments.text("output") : std::string();
    if (makes && !path.ends_with(".png") && !path.ends_with(kNumpyEnding)) {
        return Error{"--output", (path.empty() ? "missing" : "got \"" + path + "\"") +
                                     std::string(", expected -o FILE.png for a picture of all images, or FILE.npy for "
                                                 "their values")};
    }
    return !makes && project && !path.empty() ? Error{"--output", "is for images; this run's model makes none"}
                                              : Status(Done{});
}

Exit runSample(const Arguments& arguments, const Console& console)
{
    engine::SampleRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::SampleRequest>(arguments));
    Computing computing = Computing::from(arguments);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, readPlace(computing, arguments));
    const auto project = engine::readRunProject(request.of.runDirectory);
    RESIDUA_TRY_OR_FAIL(Exit::Usage, checkOutput(project, arguments));
    if (project && projects::promptsArePictures(project->data) && !request.prompt.empty()) {
        request.prompt = pathFor(computing, request.prompt).string();
    }
    setPaths(request.of, computing);
    const engine::SampleReady ready = RESIDUA_TRY(answerOf(request, console, computing));
    remarkNotes(ready.notes, console);
    console.remark("from the checkpoint of step " + groupedText(ready.step)); // stderr: the text may be piped
    if (!ready.text.empty() || (ready.masked.empty() && ready.made.examples.empty())) {
        console.data(ready.text);
    }
    if (!ready.masked.empty()) {
        showMasked(ready, console);
        return Exit::Ok;
    }
    if (!ready.made.examples.empty()) {
        return writeImages(ready, arguments.text("output"), console);
    }
    console.value({{"text", ready.text}, {"step", ready.step}, {"notes", ready.notes}});
    return Exit::Ok;
}

/// Returns the topology for a preset, shortcuts, or the path of another project.
Result<projects::Topology> topologyNamed(const std::string& text, const projects::Network& network)
{
    Result<projects::Topology> topology = projects::topologyFrom(text, network);
    std::error_code ignored;
    if (!topology && std::filesystem::exists(text, ignored)) {
        const Result<NamedProject> project = openProject(text);
        return project ? Result<projects::Topology>(project->document.project.stack().topology)
                       : Result<projects::Topology>(project.error());
    }
    return topology;
}

/// Formats a list as "3: a, b, c", or only its length if it is long.
std::string counted(const std::vector<std::string>& names)
{
    constexpr std::size_t kFew = 6;
    const std::string count = groupedText(static_cast<std::int64_t>(names.size()));
    return names.empty() || names.size() > kFew ? count : count + ": " + joinedText(names);
}

std::string exponentText(double value)
{
    return numberText(value, 2);
}

/// Formats the losses of a copy that computes another function.
template <class Ready>
std::string lossesText(const Ready& ready)
{
    return "loss over " + groupedText(ready.batches) + " batches: " + lossText(ready.lossBefore) + " before, " +
           lossText(ready.lossAfter) + " after";
}

void showRetrofit(const engine::RetrofitReady& ready, const Console& console)
{
    remarkNotes(ready.notes, console);
    console.line("run " + ready.runDirectory.string() + " goes on from step " + groupedText(ready.step));
    console.line("kept, with their optimiser state: " + counted(ready.kept));
    console.line("new: " + counted(ready.added));
    if (!ready.dropped.empty()) {
        console.line("dropped: " + counted(ready.dropped));
    }
    nlohmann::json value{
        {"run", ready.runDirectory.string()}, {"step", ready.step},  {"kept", ready.kept}, {"added", ready.added},
        {"dropped", ready.dropped},           {"notes", ready.notes}};
    if (ready.batches > 0) {
        console.line(lossesText(ready));
        value.update({{"lossBefore", ready.lossBefore}, {"lossAfter", ready.lossAfter}, {"batches", ready.batches}});
    } else {
        console.line("outputs on the run's data differ by at most " + exponentText(ready.difference) +
                     "; in double precision by " + exponentText(ready.differenceInDouble));
        value.update({{"difference", ready.difference}, {"differenceInDouble", ready.differenceInDouble}});
    }
    console.line("train it with: residua-cli resume " + ready.runDirectory.string());
    console.value(value);
}

/// Sends the request and shows the answer.
template <class Ready, class Request>
Exit askAndShow(const Request& request, void (*show)(const Ready& ready, const Console& console),
                const Arguments& arguments, const Console& console)
{
    const Ready ready = RESIDUA_TRY(
        answerOf(request, console, Computing::from(arguments), shareTeller(console, "fitted ", " % of the layers")));
    show(ready, console);
    return Exit::Ok;
}

Exit runRetrofit(const Arguments& arguments, const Console& console)
{
    engine::RetrofitRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::RetrofitRequest>(arguments));
    if (!arguments.has("topology")) {
        const std::vector<OptionSpec> options = optionsOf<engine::RetrofitRequest>();
        return console.fail(Exit::Usage, missing(*std::ranges::find(options, "topology", &OptionSpec::name)));
    }
    const projects::Project project =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, projectOfRun(request.of.runDirectory, request.tower));
    const auto topology = topologyNamed(arguments.text("topology"), project.network);
    if (!topology) {
        return console.fail(Exit::Usage, {"--topology", topology.error().message});
    }
    request.topology = *topology;
    return askAndShow(request, &showRetrofit, arguments, console);
}

/// Makes a fork that is the same network.
Exit forkAsItIs(const engine::RetrofitRequest& request, const Console& console)
{
    const std::vector<std::int64_t> steps = engine::resumableSteps(request.of.runDirectory);
    if (steps.empty()) {
        return console.fail(Exit::RunFailed, {request.of.runDirectory.string(), "has no checkpoint yet to go on from"});
    }
    const std::int64_t step = request.of.step.value_or(steps.back());
    const auto made =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, engine::forkRun(request.of.runDirectory, step, request.newRun,
                                                             request.project ? &*request.project : nullptr));
    console.line("run " + made.string() + " goes on from step " + groupedText(step));
    console.line("train it with: residua-cli resume " + made.string() +
                 (request.steps ? " --steps " + std::to_string(*request.steps) : ""));
    console.value({{"run", made.string()}, {"step", step}});
    return Exit::Ok;
}

Exit runFork(const Arguments& arguments, const Console& console)
{
    engine::RetrofitRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::RetrofitRequest>(arguments));
    Result<projects::Project> project = projectOfRun(request.of.runDirectory);
    const std::size_t tower =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, project ? projects::chosenTower(*project, request.tower)
                                                     : Result<std::size_t>(project.error()));
    if (!request.prune.empty()) { // told before an engine starts
        const projects::Project view = projects::viewOf(*project, tower);
        const auto pruning = projects::pruningFrom(request.prune, view);
        const auto made = pruning ? projects::pruned(view, *pruning) : pruning.error();
        if (!made) {
            return console.fail(Exit::Usage, {"--prune", made.error().message});
        }
    }
    if (arguments.has("set")) {
        RESIDUA_TRY_OR_FAIL(Exit::Usage, setFields(*project, arguments.texts("set"), console));
        request.project = std::move(*project);
    }
    return request.prune.empty() ? forkAsItIs(request, console)
                                 : askAndShow(request, &showRetrofit, arguments, console);
}

/// Changes the loops of a run as `ties` says (projects/transfer/ties.h).
Exit runTies(engine::RetrofitRequest request, const Arguments& arguments, const Console& console)
{
    const projects::Project project =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, projectOfRun(request.of.runDirectory, request.tower));
    if (const auto made = projects::retied(project, request.ties); !made) { // told before an engine starts
        return console.fail(Exit::Usage, made.error());
    }
    return askAndShow(request, &showRetrofit, arguments, console);
}

Exit runUntie(const Arguments& arguments, const Console& console)
{
    engine::RetrofitRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::RetrofitRequest>(arguments));
    request.ties = projects::kUntie;
    return runTies(std::move(request), arguments, console);
}

Exit runTie(const Arguments& arguments, const Console& console)
{
    engine::RetrofitRequest request = RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::RetrofitRequest>(arguments));
    if (const auto tie = projects::tieFrom(request.ties); !tie) {
        return console.fail(Exit::Usage, {"--layers", tie.error().message});
    }
    return runTies(std::move(request), arguments, console);
}

void showFactorise(const engine::FactoriseReady& ready, const Console& console)
{
    remarkNotes(ready.notes, console);
    nlohmann::json weights = nlohmann::json::array();
    std::size_t longest = 0;
    for (const auto& weight : ready.weights) {
        longest = std::max(longest, weight.name.size());
        weights.push_back({{"name", weight.name}, {"rank", weight.rank}, {"relativeError", weight.relativeError}});
    }
    console.line("run " + ready.runDirectory.string() + " goes on from step " + groupedText(ready.step));
    console.line("weight" + std::string(longest > 6 ? longest - 6 : 0, ' ') + "   rank   relative error");
    for (const auto& weight : ready.weights) {
        char line[64];
        std::snprintf(line, sizeof line, "  %5lld   %14.3g", static_cast<long long>(weight.rank), weight.relativeError);
        console.line(weight.name + std::string(longest - weight.name.size(), ' ') + line);
    }
    console.line("parameters: " + groupedText(ready.parametersBefore) + " before, " +
                 groupedText(ready.parametersAfter) + " after");
    console.line(lossesText(ready));
    console.line("train it with: residua-cli resume " + ready.runDirectory.string());
    console.value({{"run", ready.runDirectory.string()},
                   {"step", ready.step},
                   {"weights", weights},
                   {"parametersBefore", ready.parametersBefore},
                   {"parametersAfter", ready.parametersAfter},
                   {"lossBefore", ready.lossBefore},
                   {"lossAfter", ready.lossAfter},
                   {"batches", ready.batches},
                   {"notes", ready.notes}});
}

Exit runFactorise(const Arguments& arguments, const Console& console)
{
    const engine::FactoriseRequest request =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, requestFrom<engine::FactoriseRequest>(arguments));
    return askAndShow(request, &showFactorise, arguments, console);
}

const PositionalSpec kRunDirectory{"RUN", "a run's directory"};

/// Returns the options of a query that any engine answers from a checkpoint.
template <class Request>
std::vector<OptionSpec> optionsAnywhere()
{
    return optionsOf<Request>({placeOption(), folderOption(), threadsOption()});
}

/// Returns the options of a retrofit without those of the other command that asks for one.
std::vector<OptionSpec> retrofitOptions(std::initializer_list<std::string_view> without, std::vector<OptionSpec> others)
{
    std::vector<OptionSpec> options = optionsOf<engine::RetrofitRequest>(std::move(others));
    std::erase_if(options,
                  [&](const OptionSpec& option) { return std::ranges::find(without, option.name) != without.end(); });
    return options;
}

std::vector<OptionSpec> evalOptions()
{
    std::vector<OptionSpec> options = optionsAnywhere<engine::EvaluateRequest>();
    options.push_back({kChoices, OptionKind::Text, "FILE",
                       "JSON Lines of questions instead: {\"prompt\": text, \"choices\": [text, ...], \"answer\": "
                       "the right choice, or its number from 0}"});
    return options;
}

std::vector<OptionSpec> sampleOptions()
{
    std::vector<OptionSpec> options = optionsAnywhere<engine::SampleRequest>();
    OptionSpec output{"output", OptionKind::Text, "FILE",
                      "where images go: a .png of all of them, or an .npy of their values, a row for each image"};
    output.shortName = "o";
    options.push_back(std::move(output));
    return options;
}

} // namespace

std::vector<Command> modelCommands()
{
    return {
        {"eval",
         "the mean loss of a checkpoint on a part of the data, or how often it finds the right choice of questions",
         "residua-cli eval my-project/runs/first --batches 2",
         {{kRunDirectory}, evalOptions()},
         &runEval},
        {"sample",
         "continue a text with a checkpoint's language model, fill its masked tokens, name classes, or make images",
         "residua-cli sample my-project/runs/first --tokens 20",
         {{kRunDirectory}, sampleOptions()},
         &runSample},
        {"retrofit",
         "go on with a trained network under another topology that starts as the same function",
         "residua-cli retrofit my-project/runs/first --topology dca -o my-project/runs/dca --steps 40",
         {{kRunDirectory}, retrofitOptions({"prune", "layers"}, {threadsOption()})},
         &runRetrofit,
         Yields::Files},
        {"fork",
         "go on with a copy of a run, without some of its shortcuts or layers, or with other settings",
         "residua-cli fork my-project/runs/first --prune 0:2 -o my-project/runs/less --steps 40",
         {{kRunDirectory},
          retrofitOptions({"topology", "measured", "layers"}, {setOption("of the run: "), threadsOption()})},
         &runFork,
         Yields::Files},
        {"tie",
         "go on with a network whose layers become visits of a loop, with averaged or chosen weights, and products of "
         "low rank for each visit",
         "residua-cli tie my-project/runs/first --layers 1:4,2,average -o my-project/runs/tied --steps 40",
         {{kRunDirectory}, retrofitOptions({"topology", "prune", "measured"}, {threadsOption()})},
         &runTie,
         Yields::Files},
        {"untie",
         "go on with a network whose loops' visits are layers with weights of their own",
         "residua-cli untie my-project/runs/tied -o my-project/runs/untied --steps 40",
         {{kRunDirectory}, retrofitOptions({"topology", "prune", "measured", "layers"}, {threadsOption()})},
         &runUntie,
         Yields::Files},
        {"factorise",
         "go on with a trained network whose weights are products of two thin matrices",
         "residua-cli factorise my-project/runs/first --rank-scale 0.25 -o my-project/runs/thin --steps 40",
         {{kRunDirectory}, optionsOf<engine::FactoriseRequest>({threadsOption()})},
         &runFactorise,
         Yields::Files},
    };
}

} // namespace residua::cli
