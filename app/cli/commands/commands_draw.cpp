// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments/arguments.h"
#include "app/cli/arguments/project_argument.h"
#include "app/cli/commands/commands.h"
#include "app/cli/terminal/console.h"
#include "editor/figures/figure.h"
#include "editor/figures/scene_figures.h"
#include "engine/base/api/environment.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/coefficients.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/text.h"
#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"
#include "resources/page.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace residua::cli {
namespace {

using editor::FigureStyle;

/// A project or a run to draw.
struct Subject {
    projects::Document document;
    editor::LiveWeights weights; ///< of a run
};

/// Fills `weights` with the recorded weights of a run at `step`, by default the last.
Status takeWeights(Subject& subject, const std::filesystem::path& run, std::optional<std::int64_t> step)
{
    const auto matrices = RESIDUA_TRY(engine::coefficientsAt(run, step));
    projects::FiniteRange range;
    const auto isWeight = [](const engine::Matrix& matrix) { return matrix.name.kind == engine::matrix::kMix; };
    for (const engine::Matrix& matrix : matrices) {
        std::ranges::for_each(matrix.values, [&](float value) { isWeight(matrix) ? range.add(value) : void(); });
    }
    const auto scale = projects::weightScale(&subject.document.project.stack().topology.wiring,
                                             projects::WeightQuantity::Weight, range);
    for (const engine::Matrix& matrix : matrices) {
        if (isWeight(matrix)) {
            editor::LiveValues values;
            values.port = matrix.name.port;
            values.mix = matrix.values;
            values.rows = matrix.rows;
            values.columns = matrix.columns;
            values.step = matrix.step;
            subject.weights.take(values, scale);
        }
    }
    return Done{};
}

ValueOr<Subject, Refusal> subjectOf(const Arguments& arguments, const Console& console)
{
    const std::filesystem::path path = arguments.positional(0);
    const bool learned = !arguments.has("without-weights");
    std::error_code ignored;
    if (!std::filesystem::exists(path / engine::kRunFile, ignored)) {
        if (arguments.has("step")) {
            return Refusal{Exit::Usage, {"--step", "is for a run, and " + path.string() + " is none"}};
        }
        const NamedProject named = RESIDUA_TRY(openProject(arguments, console));
        return Subject{named.document, {}};
    }
    if (arguments.has("set")) {
        return Refusal{Exit::Usage, {"--set", "is for a project, and " + path.string() + " is a run"}};
    }
    projects::Project project = RESIDUA_TRY(refusing(Exit::RunFailed, engine::readRunProject(path)));
    Subject subject{{std::move(project), {}}, {}};
    const auto step = arguments.integer("step");
    if (const Status taken = learned ? takeWeights(subject, path, step) : Status(Done{}); !taken) {
        if (step) {
            return Refusal{Exit::RunFailed, taken.error()};
        }
        console.remark("note: drawn without weights: " + taken.error().text());
    }
    return subject;
}

/// Returns the ports that --port selects, or all. The first is the matrix's.
Result<std::vector<editor::DepthPort>> chosenPorts(const Arguments& arguments, const projects::Project& project)
{
    std::vector<editor::DepthPort> ports = editor::depthPorts(project.stack().topology, resources::Theme::Light);
    if (!arguments.has("port")) {
        return ports;
    }
    std::string names;
    for (const editor::DepthPort& port : ports) {
        names += (names.empty() ? "" : ", ") + std::string(nameOf(port.port));
    }
    const std::string word = arguments.text("port");
    std::erase_if(ports, [&word](const editor::DepthPort& port) { return nameOf(port.port) != word; });
    if (ports.empty()) {
        return Error{"--port", "got \"" + shortened(word) + "\", expected " +
                                   (names.empty() ? "no port, because each layer has a single mix" : names)};
    }
    return ports;
}

Result<editor::Figure> figureOf(const Subject& subject, const Arguments& arguments)
{
    FigureStyle style;
    style.centimetres = arguments.real("width", style.centimetres);
    style.text = arguments.real("text", style.text);
    style.family = arguments.text("font", style.family);
    const std::string show = arguments.text("show", "canvas");
    const projects::Project& project = subject.document.project;
    if (show != "canvas" && show != "matrix") {
        const auto graph = projects::graphRefFrom(show);
        return graph ? blockFigure(subject.document, *graph, style)
                     : Error{"--show",
                             "got \"" + shortened(show) + "\", expected canvas, matrix, stem, head or block:NAME"};
    }
    auto ports = RESIDUA_TRY(chosenPorts(arguments, project));
    const editor::TopologyView view{subject.document, subject.weights, std::move(ports),
                                    arguments.has("fold") ? editor::foldableRuns(project.network)
                                                          : std::vector<editor::LayerRun>()};
    return show == "canvas" ? depthFigure(view, style) : matrixFigure(view, style);
}

Exit runDraw(const Arguments& arguments, const Console& console)
{
    const Subject subject = RESIDUA_TRY(reported(subjectOf(arguments, console), console));
    const std::filesystem::path path = arguments.text("output");
    if (path.empty()) {
        return console.fail(Exit::Usage, {"-o", "is missing, expected a file: FILE.svg, .pdf, .tikz or .tex"});
    }
    const auto format = RESIDUA_TRY_OR_FAIL(Exit::Usage, editor::figureFormatOf(path));
    const Result<editor::Figure> figure = figureOf(subject, arguments);
    const std::string bytes =
        RESIDUA_TRY_OR_FAIL(Exit::Usage, figure ? figureFile(*figure, format) : Result<std::string>(figure.error()));
    const double high = figure->height / editor::kPointsPerCm;
    const double wide = figure->width / editor::kPointsPerCm;
    return deliver({path, bytes, "figure"},
                   "wrote " + path.string() + ": " + numberText(wide, 3) + " × " + numberText(high, 3) + " cm",
                   {{"output", path.string()}, {"widthCm", wide}, {"heightCm", high}}, console);
}

} // namespace

std::vector<Command> drawCommands()
{
    OptionSpec set = setOption("of a PROJECT: ");
    return {
        {"draw",
         "draw the network of a project or run for a paper: SVG, PDF or TikZ",
         "residua-cli draw my-project -o my-project/network.pdf",
         {{offering(PositionalSpec{"PROJECT|RUN", "a project, or a run's directory, whose learned weights are drawn"},
                    exampleNames(), Beside::Files)},
          {{"output", OptionKind::Text, "FILE",
            "where to write: FILE.svg, FILE.pdf with its fonts, FILE.tikz to \\input, or FILE.tex, the same as a "
            "document",
            "o"},
           offering(OptionSpec{"show", OptionKind::Text, "WHAT", "canvas (default), matrix, stem, head or block:NAME"},
                    {"canvas", "matrix", "stem", "head"}),
           realOption("width", "CM", "width in centimetres (default: 8.5, a column of two)",
                      resources::page::kNarrowest, resources::page::kWidest),
           realOption("text", "PT", "size of the text in points (default: 8)", resources::page::kSmallestText,
                      resources::page::kLargestText),
           {"font", OptionKind::Text, "NAME", "font of SVG and PDF (default: Inter); TikZ has the document's"},
           {"port", OptionKind::Text, "PORT",
            "shows one port: q, k, v or residual (default: all; matrix: the "
            "first)"},
           {"fold", OptionKind::Flag, {}, "draws neighbouring layers of the same block as one box"},
           {"step", OptionKind::Integer, "STEP", "the weights of this step of the run (default: the last)", {}, 0},
           {"without-weights", OptionKind::Flag, {}, "draws a run as before training"},
           std::move(set)}},
         &runDraw,
         Yields::Files}};
}

} // namespace residua::cli
