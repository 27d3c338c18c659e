// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/commands/commands.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/weakest_shortcuts.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/depth/mix_port.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>

namespace residua::cli {
namespace {

using engine::Matrix;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kGrnGainsFigure = 5; ///< of DeepCrossAttention; the paper on low ranks has four

/// What to show of a run, checked against each other.
struct View {
    fs::path run;
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> feature;
    std::string against; ///< "initial", a step or a run; empty for no comparison
    bool logRatio = false;
    std::optional<projects::MixPort> port; ///< nullopt: all
};

/// Returns the ports with mixes of their own, as words and in a sentence.
std::vector<std::string> portWords()
{
    std::vector<std::string> words;
    for (const projects::MixPort port : portsOf(projects::MixPorts::QkvResidual)) {
        words.emplace_back(nameOf(port));
    }
    words.emplace_back(nameOf(projects::MixPort::Final));
    return words;
}
constexpr const char* kPortsText = "q, k, v, residual or final";

/// Initially all features of a weight are equal, so the recorded mean is each feature's value.
Result<std::vector<Matrix>> initialOf(const View& view)
{
    Result<std::vector<Matrix>> first = engine::firstCoefficients(view.run);
    if (!first || !view.feature) {
        return first;
    }
    for (const Matrix& matrix : *first) {
        const bool spread = matrix.name.kind == engine::matrix::kSpread;
        if (spread && std::ranges::any_of(matrix.values, [](float value) { return value > 0; })) {
            return Error{"--against initial", "the features of the first record, of step " +
                                                  std::to_string(matrix.step) +
                                                  ", differ already, and only their mean was recorded"};
        }
    }
    return first;
}

Result<std::vector<Matrix>> referenceOf(const View& view, std::int64_t step)
{
    if (view.against == "initial") {
        return initialOf(view);
    }
    if (const auto other = numberFrom<std::int64_t>(view.against)) {
        return engine::coefficientsAt(view.run, other, view.feature);
    }
    std::error_code ignored;
    if (!fs::exists(view.against, ignored)) {
        return Error{"--against", "\"" + view.against + "\" is neither initial, nor a step, nor a run's directory"};
    }
    Result<std::vector<Matrix>> same = engine::coefficientsAt(view.against, step, view.feature);
    return same ? same : engine::coefficientsAt(view.against, std::nullopt, view.feature); // its last one
}

/// Subtracts the reference from the matrices. Removes a matrix that the reference lacks.
Status subtract(std::vector<Matrix>& matrices, const std::vector<Matrix>& reference)
{
    std::vector<Matrix> differences;
    for (const Matrix& matrix : matrices) {
        const auto other = std::ranges::find(reference, matrix.name, &Matrix::name);
        if (other == reference.end()) {
            continue;
        }
        Matrix difference = RESIDUA_TRY(engine::difference(matrix, *other));
        differences.push_back(std::move(difference));
    }
    if (differences.empty()) {
        return Error{"--against", "there is no matrix that both have"};
    }
    matrices = std::move(differences);
    return Done{};
}

Result<std::vector<Matrix>> matricesOf(const View& view)
{
    std::vector<Matrix> matrices = RESIDUA_TRY(engine::coefficientsAt(view.run, view.step, view.feature));
    std::erase_if(matrices, [&](const Matrix& matrix) {
        const bool otherPort = view.port && matrix.name.port != *view.port;
        return otherPort || (view.logRatio && matrix.name.kind != engine::matrix::kMix);
    });
    if (matrices.empty()) {
        return Error{view.run.string(), view.port ? "has no coefficients of a port " + std::string(nameOf(*view.port))
                                                  : "has no coefficients"};
    }
    if (view.logRatio) {
        std::ranges::transform(matrices, matrices.begin(), &engine::logOfRowMaximum);
    }
    if (!view.against.empty()) {
        const auto reference = referenceOf(view, matrices.front().step);
        RESIDUA_TRY(reference ? subtract(matrices, *reference) : Status(reference.error()));
    }
    return matrices;
}

std::string cellText(float value)
{
    if (std::isnan(value)) {
        return "·";
    }
    return numberText(static_cast<double>(value), 4);
}

std::string tableOf(const Matrix& matrix)
{
    std::vector<std::vector<std::string>> rows(1, {"j \\ i"});
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
        rows.front().push_back(std::to_string(column));
    }
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const auto cells =
            std::span(matrix.values).subspan(static_cast<std::size_t>(row * matrix.columns), rows.front().size() - 1);
        if (std::ranges::all_of(cells, [](float value) { return std::isnan(value); })) {
            continue; // it reads nothing by this port
        }
        rows.push_back({std::to_string(row + 1)});
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            rows.back().push_back(cellText(matrix.at(row, column)));
        }
    }
    return table(rows);
}

json cellsOf(const Matrix& matrix)
{
    json rows = json::array();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        json cells = json::array();
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const float value = matrix.at(row, column);
            cells.push_back(std::isnan(value) ? json(nullptr) : json(value));
        }
        rows.push_back(std::move(cells));
    }
    return rows;
}

std::string titleOf(const Matrix& matrix, const View& view)
{
    std::string title = matrix.name.text() + " at step " + groupedText(matrix.step);
    title += view.feature ? ", feature " + std::to_string(*view.feature) : "";
    title += view.against.empty() ? "" : ", less " + view.against;
    return title + (view.logRatio ? ", log(p / row maximum)" : "");
}

void show(const std::vector<Matrix>& matrices, const View& view, const Console& console)
{
    json list = json::array();
    for (const Matrix& matrix : matrices) {
        console.line(titleOf(matrix, view) + "\n" + tableOf(matrix) + "\n");
        list.push_back({{"name", matrix.name.text()}, {"step", matrix.step}, {"values", cellsOf(matrix)}});
    }
    console.value({{"run", view.run.string()},
                   {"feature", view.feature ? json(*view.feature) : json(nullptr)},
                   {"against", view.against},
                   {"logRatio", view.logRatio},
                   {"matrices", list}});
}

/// Saves the matrices to a file, with every feature if a checkpoint of the step has them and no other option is given.
Exit save(const std::vector<Matrix>& matrices, const View& view, const fs::path& path, const Console& console)
{
    if (isStandardOutput(path)) {
        return deliver({path, engine::coefficientsCsv(matrices), "csv"}, {}, {}, console);
    }
    std::vector<engine::CoefficientTensor> tensors;
    const bool whole = !view.feature && view.against.empty() && !view.logRatio && !view.port;
    if (whole && path.extension() == ".safetensors") {
        if (auto all = engine::checkpointCoefficients(view.run, matrices.front().step)) {
            tensors = *std::move(all);
        }
        std::erase_if(tensors, [](const engine::CoefficientTensor& tensor) { return tensor.features == 1; });
    }
    const bool perFeature = whole && std::ranges::any_of(matrices, [](const Matrix& matrix) {
                                return matrix.name.kind == engine::matrix::kSpread;
                            });
    RESIDUA_TRY_OR_FAIL(Exit::Usage, engine::exportCoefficients(path, matrices, tensors));
    console.line(
        "wrote " + path.string() + ": " + std::to_string(matrices.size()) + " matrices of step " +
        groupedText(matrices.front().step) +
        (tensors.empty() ? "" : ", and every feature of " + std::to_string(tensors.size())) +
        (perFeature && tensors.empty() ? ", means over the features (FILE.safetensors has each feature)" : ""));
    console.value({{"file", path.string()},
                   {"step", matrices.front().step},
                   {"matrices", matrices.size()},
                   {"tensors", tensors.size()}});
    return Exit::Ok;
}

Exit runCoefficients(const Arguments& arguments, const Console& console)
{
    if (arguments.has("distribution")) {
        return runDistribution(arguments, console);
    }
    View view;
    view.run = arguments.positional(0);
    view.against = arguments.text("against");
    view.logRatio = arguments.has("log-ratio");
    if (arguments.has("port")) {
        view.port = projects::mixPortFrom(arguments.text("port"));
        if (!view.port) {
            return console.fail(Exit::Usage,
                                {"--port", "got \"" + arguments.text("port") + "\", expected " + kPortsText});
        }
    }
    view.step = arguments.integer("step");
    view.feature = arguments.integer("feature");
    if (view.logRatio && !view.against.empty()) {
        return console.fail(Exit::Usage, {"", "--log-ratio and --against exclude each other"});
    }
    const std::vector<Matrix> matrices = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, matricesOf(view));
    if (arguments.has("output")) {
        return save(matrices, view, arguments.text("output"), console);
    }
    show(matrices, view, console);
    return Exit::Ok;
}

/// Prints or writes a recorded confusion matrix.
Exit runConfusion(const Arguments& arguments, const Console& console)
{
    const fs::path run = arguments.positional(0);
    const Result<engine::RunReader> reader = engine::RunReader::open(run);
    const auto info =
        RESIDUA_TRY_OR_FAIL(Exit::RunFailed, reader ? reader->info() : Result<engine::RunInfo>(reader.error()));
    const std::vector<std::int64_t> steps = reader->matrixSteps(engine::matrix::kConfusion);
    if (steps.empty()) {
        return console.fail(Exit::RunFailed, {run.string(), "has no confusion matrix: a validation of up to " +
                                                                std::to_string(engine::matrix::kMostConfusedClasses) +
                                                                " classes records it"});
    }
    const std::int64_t step = arguments.integer("step", steps.back());
    const Matrix matrix = RESIDUA_TRY_OR_FAIL(Exit::RunFailed, reader->matrix(engine::matrix::kConfusion, step));
    const std::vector<std::string> names = engine::namesOfClasses(matrix, info.classes);
    std::vector<std::vector<std::string>> rows(1, {"true \\ predicted"});
    std::string csv = "step,true,predicted,count\n";
    rows.front().insert(rows.front().end(), names.begin(), names.end());
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        rows.push_back({names[static_cast<std::size_t>(row)]});
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const std::string count = std::to_string(std::llround(matrix.at(row, column)));
            rows.back().push_back(count);
            csv += std::to_string(step) + "," + std::to_string(row) + "," + std::to_string(column) + "," + count + "\n";
        }
    }
    if (arguments.has("output")) {
        const std::string path = arguments.text("output");
        return deliver({path, csv, "csv"}, "wrote " + path + ": the confusion matrix of step " + groupedText(step),
                       {{"output", path}, {"step", step}}, console);
    }
    console.line("confusion matrix at step " + groupedText(step) + ": examples by class\n" + table(rows));
    console.value({{"run", run.string()}, {"step", step}, {"classes", names}, {"counts", cellsOf(matrix)}});
    return Exit::Ok;
}

/// Runs what the options of `analyze theory` select: a theorem, a figure or the model of a project.
Exit runAnyTheory(const Arguments& arguments, const Console& console)
{
    const bool ofProject = !arguments.has("theorem") && !arguments.has("figure");
    if (arguments.has("set") && !ofProject) {
        return console.fail(Exit::Usage, {"--set", "is for a PROJECT; --figure and --theorem take none"});
    }
    if (ofProject) {
        return runTheory(arguments, console);
    }
    if (arguments.has("theorem")) {
        return runSinePhases(arguments, console);
    }
    const bool gains = arguments.integer("figure", 0) == kGrnGainsFigure;
    return gains ? runGrnGains(arguments, console) : runLowRankFigure(arguments, console);
}

PositionalSpec runArgument()
{
    return {"RUN", "a run's directory"};
}

OptionSpec stepOption(std::string help)
{
    return {"step", OptionKind::Integer, "STEP", std::move(help), {}, 0};
}

OptionSpec outputOption(std::string help)
{
    return {"output", OptionKind::Text, "FILE", std::move(help), "o"};
}

/// Returns the options of an analysis that the engine computes from a run, after those of its own.
std::vector<OptionSpec> computed(std::vector<OptionSpec> options)
{
    for (OptionSpec common :
         {runOption("project"), runOption("other-data"), threadsOption(), placeOption(), folderOption()}) {
        options.push_back(std::move(common));
    }
    return options;
}

Command coefficientsCommand()
{
    return {"analyze coefficients",
            "print or export the mixing weights that a run has learned",
            "residua-cli analyze coefficients my-project/runs/first --against initial",
            {{runArgument()},
             {stepOption("the weights recorded at this step, or of its checkpoint (default: the last)"),
              {"feature", OptionKind::Integer, "N", "one feature, from a checkpoint (default: the mean of all)", {}, 0},
              {"against", OptionKind::Text, "WHAT",
               "subtract the weights at the start (initial), at another step, or of another run's directory"},
              {"distribution", OptionKind::Flag, "",
               "median, 5th and 95th percentile of each weight over the features, from a checkpoint"},
              {"log-ratio", OptionKind::Flag, "", "log(p / the largest p of its row), of the weights applied"},
              offering(OptionSpec{"port", OptionKind::Text, "NAME", std::string("only ") + kPortsText}, portWords()),
              outputOption("write FILE.csv, FILE.safetensors or, with --distribution, FILE.svg instead; - is CSV on "
                           "standard output")}},
            &runCoefficients};
}

/// Returns the command of an analysis that the engine computes from a checkpoint. Its own options stand after the step.
Command measured(std::string name, std::string help, std::string example, PositionalSpec run,
                 decltype(Command::run) carryOut, std::vector<OptionSpec> own,
                 std::string output = "write FILE.csv instead; - is CSV on standard output")
{
    own.insert(own.begin(), stepOption("the checkpoint of this step (default: the last)"));
    own.push_back(outputOption(std::move(output)));
    return {
        std::move(name), std::move(help), std::move(example), {{std::move(run)}, computed(std::move(own))}, carryOut};
}

Command stabilityCommand()
{
    return measured("analyze stability", "measure what the network of a checkpoint computes without each of its layers",
                    "residua-cli analyze stability my-project/runs/first",
                    {"RUN", "a run's directory; none with --figure", Presence::Optional}, &runStability,
                    stabilityOptions(),
                    "write FILE.csv or, with --figure, FILE.svg instead; - is CSV on standard output");
}

Command knockoutCommand()
{
    std::vector<OptionSpec> options = optionsOf<engine::KnockoutRequest>();
    options.push_back(
        integerOption("weakest", "K", "also name the K weakest shortcuts that can be left out together", 1));
    options.push_back(weakByOption("of --weakest"));
    return measured("analyze knockout",
                    "measure what the network of a checkpoint loses without each of its shortcuts, layers or streams",
                    "residua-cli analyze knockout my-project/runs/first --by layer", runArgument(), &runKnockout,
                    std::move(options));
}

Command visitsCommand()
{
    std::vector<OptionSpec> options = optionsOf<engine::VisitsRequest>();
    options.push_back(setOption());
    return measured("analyze visits",
                    "measure a loop over its visits: the steps of its state, its gradients, where it settles",
                    "residua-cli analyze visits looped --batches 1",
                    offering(PositionalSpec{"PROJECT|RUN", "a project at its start, or a run's directory"},
                             exampleNames(), Beside::Files),
                    &runVisits, std::move(options));
}

Command interventionsCommand()
{
    return measured("analyze interventions",
                    "measure a checkpoint's network with other values in its parallel streams, or other matrices "
                    "between them",
                    "residua-cli analyze interventions my-project/runs/first --what rescue --streams 1", runArgument(),
                    &runInterventions, optionsOf<engine::InterventionRequest>());
}

Command theoryCommand()
{
    std::vector<OptionSpec> options = theoryOptions();
    for (std::vector<OptionSpec> more : {lowRankFigureOptions(), sinePhasesOptions()}) {
        std::ranges::move(more, std::back_inserter(options));
    }
    options.push_back(setOption());
    options.push_back(outputOption("write FILE.csv or FILE.svg instead (the gains at every rank, the figure or the "
                                   "theorem); - is CSV on standard output"));
    PositionalSpec project = projectArgument();
    project.help = "a project of low-rank regression; none with --dimension, --figure or --theorem";
    project.presence = Presence::Optional;
    return {"analyze theory",
            "print what the papers prove of a project, or of numbers that the options give",
            "residua-cli analyze theory low-rank-regression",
            {{std::move(project)}, std::move(options)},
            &runAnyTheory};
}

Command gapCommand()
{
    std::vector<OptionSpec> options{stepOption("of a run: the checkpoint of this step (default: the last)")};
    std::ranges::move(gapOptions(), std::back_inserter(options));
    options.push_back(setOption());
    options.push_back(outputOption("write FILE.csv instead; - is CSV on standard output"));
    return {
        "analyze gap",
        "measure how far weights in two factors are from the full ones, by method",
        "residua-cli analyze gap wide-relu --methods spectral",
        {{offering(PositionalSpec{"PROJECT|RUN", "a project, or a run's directory"}, exampleNames(), Beside::Files)},
         computed(std::move(options))},
        &runGap};
}

} // namespace

std::vector<Command> analyzeCommands()
{
    Command metrics{"analyze metrics",
                    "print or export every recorded time series of runs",
                    "residua-cli analyze metrics my-project/runs/first",
                    {{{"RUN", "the directories of runs, or folders of runs", Presence::Repeated}},
                     {outputOption("write FILE.csv instead; - is CSV on standard output")}},
                    &runMetrics};
    Command layers{"analyze layers",
                   "print or export every layer: its shape, parameters and FLOP, and what a run has recorded of its "
                   "output, gradient, weights and knock-out",
                   "residua-cli analyze layers my-project/runs/first",
                   {{runArgument()},
                    {stepOption("what was recorded last up to this step (default: the newest)"),
                     {"tower", OptionKind::Text, "NAME", "the tower whose layers these are (default: the first)"},
                     outputOption("write FILE.csv instead; - is CSV on standard output")}},
                   &runLayers};
    Command confusion{"analyze confusion",
                      "print or export which classes a run's network confuses",
                      "residua-cli analyze confusion classifier/runs/first",
                      {{runArgument()},
                       {stepOption("the validation of this step (default: the last)"),
                        outputOption("write FILE.csv instead; - is CSV on standard output")}},
                      &runConfusion};
    Command analyze{"analyze",
                    "print or export what a run has learned, what it has recorded, and what the papers prove",
                    "residua-cli analyze coefficients my-project/runs/first --against initial",
                    {},
                    nullptr};
    return {withSubcommands(std::move(analyze), {"WHAT", {}},
                            {{"SUBJECT", "a run, runs or a project; the help of each has more", Presence::AnyNumber,
                              exampleNames(), Beside::Files}},
                            {coefficientsCommand(), std::move(metrics), std::move(layers), std::move(confusion),
                             theoryCommand(), stabilityCommand(), knockoutCommand(), visitsCommand(),
                             interventionsCommand(), gapCommand()})};
}

} // namespace residua::cli
