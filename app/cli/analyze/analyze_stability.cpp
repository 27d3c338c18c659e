// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/project_argument.h"
#include "app/cli/arguments/request_arguments.h"
#include "app/cli/runs/engine_client.h"
#include "app/cli/runs/named_runs.h"
#include "app/report/svg_plot.h"
#include "engine/base/api/row_curves.h"
#include "engine/maths/theory/layer_stability.h"
#include "projects/depth/depth_names.h"

#include <sstream>

namespace residua::cli {
namespace {

namespace theory = engine::theory;
using engine::Matrix;
using engine::StabilityRow;
using nlohmann::json;

constexpr double kShared[] = {0, 0.25, 0.5, 0.75, 1}; ///< τ
constexpr std::int64_t kDeepest = 96;
constexpr double kMostWork = 1e9;    ///< layers² · dimension²: minutes
constexpr double kPaperPower = -0.4; ///< of the gap as a function of the depth
constexpr double kPaperBert = -0.88;
constexpr const char* kFrobenius = "frobenius";
constexpr const char* kSpectral = "spectral";
constexpr const char* kResidual = "residual";
constexpr const char* kLayerNorm = "norm";
constexpr int kStabilityDigits = 5;
constexpr const char* kPaper = "paper: -0.4 for every tau (section 5, figure 4); -0.88 as a bound of BERT-Large, from "
                               "its Psi as (L/l)^0.12 and norms that grow with l (figure 3)";

double at(const Matrix& matrix, StabilityRow row, std::int64_t layer)
{
    return matrix.at(engine::rowNumber(row), layer - 1);
}

/// Fits Ψ_l as a power of l, over the layers that could be left out.
double powerOfEffects(const Matrix& stability)
{
    std::vector<double> layers;
    std::vector<double> effects;
    for (std::int64_t layer = 1; layer <= stability.columns; ++layer) {
        layers.push_back(static_cast<double>(layer));
        effects.push_back(at(stability, StabilityRow::Effect, layer)); // NaN is ignored
    }
    return theory::fittedPower(layers, effects);
}

/// Returns the name of an executed layer in the run's network; its number if the run cannot be read.
using LayerNamer = std::function<std::string(std::int64_t)>;
LayerNamer namerOf(const engine::StabilityRequest& request)
{
    const Result<projects::Project> project = projectOfRun(request.of.runDirectory, request.tower);
    return project ? LayerNamer([stack = project->stack()](std::int64_t layer) { return layerName(stack, layer); })
                   : LayerNamer([](std::int64_t layer) { return std::to_string(layer); });
}

std::string csvOf(const Matrix& stability, const LayerNamer& nameOf)
{
    std::ostringstream csv;
    csv << "layer,psi,norm,loss_rise\n";
    for (std::int64_t layer = 1; layer <= stability.columns; ++layer) {
        csv << nameOf(layer);
        for (const StabilityRow row : {StabilityRow::Effect, StabilityRow::Output, StabilityRow::Rise}) {
            const double value = at(stability, row, layer);
            csv << ',' << (std::isnan(value) ? "" : numberText(value));
        }
        csv << '\n';
    }
    return csv.str();
}

void show(const engine::StabilityReady& ready, const LayerNamer& nameOf, const Console& console)
{
    const Matrix& stability = ready.matrices.front();
    const double gap = ready.matrices.back().values.front();
    const double power = powerOfEffects(stability);
    std::vector<std::vector<std::string>> rows{{"without layer", "Psi", "norm of y", "loss above that of all"}};
    json layers = json::array();
    for (std::int64_t layer = 1; layer <= stability.columns; ++layer) {
        const double effect = at(stability, StabilityRow::Effect, layer);
        const double norm = at(stability, StabilityRow::Output, layer);
        const double rise = at(stability, StabilityRow::Rise, layer);
        rows.push_back({nameOf(layer), cellOf(effect, kStabilityDigits), cellOf(norm, kStabilityDigits),
                        cellOf(rise, kStabilityDigits)});
        layers.push_back(
            {{"layer", layer}, {"name", nameOf(layer)}, {"psi", effect}, {"norm", norm}, {"lossRise", rise}});
    }
    console.line(console.table(rows));
    console.line("loss of all layers " + numberText(ready.loss, 5) + ", less its mean without one " +
                 cellOf(gap, kStabilityDigits) + ", over " + groupedText(ready.batches) + " batches at step " +
                 groupedText(ready.step));
    if (!std::isnan(power)) {
        console.line("Psi goes as l^" + numberText(power, 3) + "; the paper's BERT-Large has l^-0.12 (figure 3)");
    }
    console.value({{"step", ready.step},
                   {"batches", ready.batches},
                   {"loss", ready.loss},
                   {"gap", gap},
                   {"psiPower", power},
                   {"layers", layers},
                   {"notes", ready.notes}});
}

Exit ofRun(const Arguments& arguments, const Console& console)
{
    Result<engine::StabilityRequest> request = requestFrom<engine::StabilityRequest>(arguments);
    const engine::StabilityReady ready = RESIDUA_TRY(answerTo(request, arguments, console));
    if (ready.matrices.empty()) {
        return console.fail(Exit::RunFailed, {request->of.runDirectory.string(), "has no layers to leave out"});
    }
    if (arguments.has("output")) {
        return saveNumbers(csvOf(ready.matrices.front(), namerOf(*request)),
                           groupedText(ready.matrices.front().columns) + " layers", arguments, console);
    }
    show(ready, namerOf(*request), console);
    return Exit::Ok;
}

/// Figure 4 at one τ.
struct Shared {
    double tau = 0;
    std::vector<double> depths;
    std::vector<theory::LinearStability> found; ///< at each depth
    double power = 0;                           ///< of the gap as a function of the depth
};

/// Returns the depths: the deepest, then half of it, and so on, down to 6.
std::vector<std::int64_t> depthsTo(std::int64_t deepest)
{
    std::vector<std::int64_t> depths{deepest};
    while (depths.front() / 2 >= 6) {
        depths.insert(depths.begin(), depths.front() / 2);
    }
    return depths;
}

Result<std::vector<Shared>> figure4(theory::NormalisedLinear network, const std::vector<std::int64_t>& depths)
{
    std::vector<Shared> all;
    for (const double tau : kShared) {
        Shared& shared = all.emplace_back(Shared{.tau = tau, .depths = {}, .found = {}});
        std::vector<double> gaps;
        for (const std::int64_t depth : depths) {
            network.shared = tau;
            auto found = RESIDUA_TRY(theory::linearStability(network, depth));
            shared.depths.push_back(static_cast<double>(depth));
            gaps.push_back(found.gap);
            shared.found.push_back(std::move(found));
        }
        shared.power = theory::fittedPower(shared.depths, gaps);
    }
    return all;
}

std::string figureCsv(const std::vector<Shared>& all)
{
    std::ostringstream csv;
    csv << "tau,layers,layer,norm,psi,gap\n";
    for (const Shared& shared : all) {
        for (std::size_t d = 0; d < shared.depths.size(); ++d) {
            const theory::LinearStability& found = shared.found[d];
            for (std::size_t layer = 0; layer < found.norms.size(); ++layer) {
                csv << shared.tau << ',' << shared.depths[d] << ',' << layer + 1 << ','
                    << numberText(found.norms[layer]) << ',' << numberText(found.effects[layer]) << ','
                    << numberText(found.gap) << '\n';
            }
        }
    }
    return csv.str();
}

/// Returns a curve with the paper's power of the depth through the mean of the results at the smallest depth.
report::PlotCurve paperCurve(const std::string& name, double power, report::Stroke stroke,
                             const std::vector<Shared>& all)
{
    report::PlotCurve curve{name + numberText(power, 2), {}, stroke, all.size()};
    double first = 0;
    for (const Shared& shared : all) {
        first += shared.found.front().gap / static_cast<double>(all.size());
    }
    const std::vector<double>& depths = all.front().depths;
    for (const double depth : depths) {
        curve.points.append(depth, first * std::pow(depth / depths.front(), power));
    }
    return curve;
}

/// Panels (a) and (b): a number of each layer of the deepest networks, a curve for each τ.
report::PlotSpec byLayer(const std::string& title, const std::string& what,
                         std::vector<double> theory::LinearStability::*numbers, const std::vector<Shared>& all)
{
    report::PlotSpec plot{title, "layer", what, {}};
    for (const Shared& shared : all) {
        report::PlotCurve curve{"tau " + numberText(shared.tau, 2), {}, report::Stroke::Solid, plot.curves.size()};
        for (const double number : shared.found.back().*numbers) {
            curve.points.append(static_cast<double>(curve.points.size() + 1), number);
        }
        plot.curves.push_back(std::move(curve));
    }
    return plot;
}

/// Figure 4: norms and Ψ by layer at the greatest depth, and what leaving out a layer changes by depth.
std::string figureSvg(const std::vector<Shared>& all, theory::LinearForm form)
{
    report::PlotSpec plot{"What leaving out one layer changes, as a share of the output (RaPTr, figure 4c)",
                          "layers L",
                          "mean of Psi over the norm of the output",
                          {},
                          report::AxisScale::Logarithmic};
    for (const Shared& shared : all) {
        const std::string name = "tau " + numberText(shared.tau, 2) + ": L^" + cellOf(shared.power, kStabilityDigits);
        plot.curves.push_back({name, {}, report::Stroke::Solid, plot.curves.size()});
        for (std::size_t d = 0; d < shared.depths.size(); ++d) {
            plot.curves.back().points.append(shared.depths[d], shared.found[d].gap);
        }
    }
    if (form == theory::LinearForm::Whole) {
        plot.curves.push_back(paperCurve("paper: L^", kPaperPower, report::Stroke::Dashed, all));
        plot.curves.push_back(paperCurve("paper, BERT-Large: L^", kPaperBert, report::Stroke::Dotted, all));
    }
    return report::svgFile(
        {byLayer("Norm of what leaves each layer (figure 4a)", "norm of y", &theory::LinearStability::norms, all),
         byLayer("Output without a layer (figure 4b)", "Psi", &theory::LinearStability::effects, all), plot});
}

/// What the paper says of the form.
const char* paperOf(theory::LinearForm form)
{
    switch (form) {
    case theory::LinearForm::Whole:
        break;
    case theory::LinearForm::WithoutResidual:
        return "paper: without the residual Psi is at least of order 1 and the output at most, so the gap need not "
               "fall "
               "(lemma 5.4 b)";
    case theory::LinearForm::WithoutNorm:
        return "paper: without norms Psi grows as 2^((L-1)/2) and the output as 2^(L/2), so the gap need not fall "
               "(lemma 5.4 c)";
    }
    return kPaper;
}

void showFigure(const std::vector<Shared>& all, const theory::NormalisedLinear& network, const Console& console)
{
    const std::int64_t dimension = network.dimension;
    std::vector<std::vector<std::string>> rows{{"tau"}};
    for (const double depth : all.front().depths) {
        rows.front().push_back("L = " + numberText(depth));
    }
    rows.front().push_back("power of L");
    json told = json::array();
    for (const Shared& shared : all) {
        std::vector<std::string>& row = rows.emplace_back(1, numberText(shared.tau, 2));
        json gaps = json::array();
        for (const theory::LinearStability& found : shared.found) {
            row.push_back(numberText(found.gap, 4));
            gaps.push_back(found.gap);
        }
        row.push_back(cellOf(shared.power, kStabilityDigits));
        told.push_back({{"tau", shared.tau}, {"depths", shared.depths}, {"gaps", gaps}, {"power", shared.power}});
    }
    console.line("Linear network of figure 4, d = " + std::to_string(dimension) +
                 ": (1/L) sum of Psi over the norm of the output");
    console.line(console.table(rows));
    console.line(paperOf(network.form));
    console.value({{"dimension", dimension}, {"shared", told}, {"paper", kPaperPower}, {"paperBert", kPaperBert}});
}

/// The network that the options ask for.
Result<theory::NormalisedLinear> networkFrom(const Arguments& arguments, std::int64_t dimension)
{
    theory::NormalisedLinear network{.dimension = dimension};
    const std::string norm = arguments.text("norm", kFrobenius);
    if (norm != kFrobenius && norm != kSpectral) {
        return Error{"--norm", "got \"" + norm + "\", expected " + kFrobenius + " or " + kSpectral};
    }
    network.norm = norm == kSpectral ? theory::SharedNorm::Spectral : theory::SharedNorm::Frobenius;
    const std::string without = arguments.text("without");
    if (!without.empty() && without != kResidual && without != kLayerNorm) {
        return Error{"--without", "got \"" + without + "\", expected " + kResidual + " or " + kLayerNorm};
    }
    network.form = without.empty()        ? theory::LinearForm::Whole
                   : without == kResidual ? theory::LinearForm::WithoutResidual
                                          : theory::LinearForm::WithoutNorm;
    return network;
}

Exit ofFigure(const Arguments& arguments, const Console& console)
{
    const std::int64_t dimension = arguments.integer("dimension", 100);
    const std::int64_t deepest = arguments.integer("layers", kDeepest);
    const double size = static_cast<double>(dimension) * static_cast<double>(deepest);
    if (size * size > kMostWork) {
        return console.fail(Exit::Usage,
                            {"--figure", "got " + groupedText(deepest) + " layers of dimension " +
                                             groupedText(dimension) + ", expected a product of at most " +
                                             groupedText(static_cast<std::int64_t>(std::sqrt(kMostWork)))});
    }
    const std::vector<std::int64_t> depths = depthsTo(deepest);
    const theory::NormalisedLinear network = RESIDUA_TRY_OR_FAIL(Exit::Usage, networkFrom(arguments, dimension));
    const std::vector<Shared> all = RESIDUA_TRY_OR_FAIL(Exit::Usage, figure4(network, depths));
    if (!arguments.has("output")) {
        showFigure(all, network, console);
        return Exit::Ok;
    }
    return saveFigure([&] { return figureSvg(all, network.form); }, [&] { return figureCsv(all); },
                      std::to_string(depths.size()) + " depths at " + std::to_string(std::size(kShared)) +
                          " values of tau",
                      arguments, console);
}

} // namespace

Exit runStability(const Arguments& arguments, const Console& console)
{
    const bool figure = arguments.has("figure");
    if (figure == !arguments.positional(0).empty()) {
        return console.fail(Exit::Usage, {"", figure ? "--figure takes no run"
                                                     : "missing argument RUN: a run's directory, or --figure 4"});
    }
    return figure ? ofFigure(arguments, console) : ofRun(arguments, console);
}

std::vector<OptionSpec> stabilityOptions()
{
    return {integerOption("figure", "N", "instead of a run: 4, RaPTr's figure of a linear network by depth", 4, 4),
            integerOption("dimension", "D", "with --figure: the features of the network (default: 100)", 2, 1e6),
            integerOption("layers", "L", "with --figure: the largest depth (default: " + std::to_string(kDeepest) + ")",
                          1, 1e6),
            optionsOf<engine::StabilityRequest>().front(),
            optionsOf<engine::StabilityRequest>().at(1),
            choiceOption("norm", "NORM",
                         "with --figure: the norm of the shared matrix that is 1 (default: frobenius, under which "
                         "the paper's power holds)",
                         {kFrobenius, kSpectral}),
            choiceOption("without", "PART",
                         "with --figure: layers without their residual or their norm (lemma 5.4 b and c)",
                         {kResidual, kLayerNorm})};
}

} // namespace residua::cli
