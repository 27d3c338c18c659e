// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/cli/arguments/request_arguments.h"
#include "app/report/svg_plot.h"
#include "engine/maths/lowrank/sphere_gap.h"
#include "engine/maths/lowrank/start_and_loss.h"
#include "projects/schema/method_keys.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <thread>

namespace residua::cli {
namespace {

using engine::SphereCase;
using engine::SpherePoint;
using nlohmann::json;
using projects::LowRankMethod;

constexpr std::int64_t kLargestN = 300;

/// A figure as a table with one row per point and unrounded numbers.
struct FigureTable {
    std::string title;
    std::vector<std::string> names; ///< of the columns
    std::vector<std::vector<double>> rows;
    std::string note;
    report::PlotSpec plot;
};

std::vector<std::string> columnsWith(std::vector<std::string> names, const std::vector<LowRankMethod>& methods)
{
    for (const LowRankMethod method : methods) {
        names.push_back("R/d " + wordOf(method));
    }
    return names;
}

Result<std::vector<SpherePoint>> onTheSphere(const std::vector<SphereCase>& cases,
                                             const std::vector<LowRankMethod>& methods)
{
    return engine::sphereGap(cases, methods, int(std::max(1U, std::thread::hardware_concurrency())));
}

/// The gap as a function of n for several rank scales: d = 0.2·n, m = n^1.5.
Result<FigureTable> figureOne(std::int64_t largest, const std::vector<LowRankMethod>& methods, std::uint64_t seed)
{
    std::vector<std::int64_t> sizes; // sizes for which 0.2·n times each scale is an integer
    for (const std::int64_t n : {100, 200, 300, 400, 600, 800, 1000}) {
        if (n <= largest) {
            sizes.push_back(n);
        }
    }
    FigureTable figure;
    figure.title = "What the spectral start leaves under a ReLU (figure 1): d = 0.2 n, m = n^1.5, rows on the sphere";
    figure.names = columnsWith({"r/d", "n", "d", "m", "r", "bound 3.5", "rough 3.7"}, methods);
    figure.plot = {"Gap of the spectral start, at least (theorem 3.5)", "n", "(1/2d) ||sqrt h(rho) - rho||^2", {}};
    std::size_t colour = 0;
    for (const double scale : {0.1, 0.25, 0.5, 0.75}) {
        std::vector<SphereCase> cases;
        std::ranges::transform(sizes, std::back_inserter(cases),
                               [&](std::int64_t n) { return engine::figureOneCase(n, scale, seed); });
        const std::vector<SpherePoint> points = RESIDUA_TRY(onTheSphere(cases, methods));
        report::PlotCurve curve{"r/d = " + numberText(scale), {}, report::Stroke::Solid, colour++};
        for (std::size_t k = 0; k < points.size(); ++k) {
            const SpherePoint& point = points[k];
            figure.rows.push_back({scale, double(sizes[k]), double(point.of.inputs), double(point.of.outputs),
                                   double(point.of.rank), point.bound, point.roughBound});
            figure.rows.back().insert(figure.rows.back().end(), point.errors.begin(), point.errors.end());
            curve.points.append(double(sizes[k]), point.bound);
        }
        figure.plot.curves.push_back(std::move(curve));
    }
    figure.note =
        "R/d of spectral less R/d of exact is the gap itself; theorem 3.5 says that it is at least the bound. "
        "r is r/d times d, rounded, at least 1.";
    return figure;
}

/// Returns the correlation of the fit's error with the loss over the points; 0 if one of the two does not vary.
double correlationOf(const std::vector<engine::StartPoint>& points)
{
    const auto count = double(points.size());
    double x = 0;
    double y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (const engine::StartPoint& point : points) {
        x += point.fitError / count;
        y += point.loss / count;
        xx += point.fitError * point.fitError / count;
        yy += point.loss * point.loss / count;
        xy += point.fitError * point.loss / count;
    }
    const double spread = (xx - x * x) * (yy - y * y);
    return spread > 0 ? (xy - x * y) / std::sqrt(spread) : 0;
}

/// The loss after training as a function of the error of the initial fit.
Result<FigureTable> figureTwo(std::int64_t networks, std::uint64_t seed)
{
    FigureTable figure;
    figure.title = "What a closer start is worth (figure 2 at a small scale): LFAI stopped after so many steps, then "
                   "training";
    figure.names = {"warm start", "fit steps", "epochs", "fit error", "loss at start", "loss", "+-"};
    figure.plot = {"Validation loss against the fit's error",
                   "relative function error of the start, per mille",
                   "validation loss after training",
                   {}};
    engine::StartStudy study;
    study.networks = networks;
    study.seed = seed;
    std::string correlations;
    std::size_t colour = 0;
    for (const LowRankMethod method : {LowRankMethod::LfaiWs, LowRankMethod::Lfai}) {
        study.method = method;
        const std::vector<std::int64_t> fitSteps{0, 16, 32, 64, 128, 256, 768};
        auto points =
            RESIDUA_TRY(engine::lossByStart(study, fitSteps, int(std::max(1U, std::thread::hardware_concurrency()))));
        const bool warm = method == LowRankMethod::LfaiWs;
        for (const engine::StartPoint& point : points) {
            figure.rows.push_back({warm ? 1.0 : 0.0, double(point.fitSteps), double(point.fitSteps) / 128,
                                   point.fitError, point.lossAtStart, point.loss, point.lossError});
        }
        correlations += (warm ? "" : ", ") + wordOf(method) + " " + numberText(correlationOf(points), 2);
        std::ranges::stable_sort(points, {}, &engine::StartPoint::fitError);
        report::PlotCurve curve{wordOf(method), {}, report::Stroke::Solid, colour++};
        for (const engine::StartPoint& point : points) {
            curve.points.append(1000 * point.fitError, point.loss);
        }
        figure.plot.curves.push_back(std::move(curve));
    }
    figure.note = "means over " + std::to_string(networks) + (networks == 1 ? " network" : " networks") +
                  " of two hidden layers of " + std::to_string(study.width) + " ReLUs at rank scale " +
                  numberText(study.rankScale) +
                  "; +- is the loss's standard error. 0 steps: the spectral start where "
                  "warm, else the draw. Correlation of error and loss: " +
                  correlations + "; the paper's figure shows a closer start to end better.";
    return figure;
}

/// √h as a function of ρ.
FigureTable figureThree()
{
    FigureTable figure;
    figure.title = "The ReLU's kernel against the correlation (figure 3), for one column of norm 1";
    figure.names = {"rho", "sqrt h", "sqrt h - rho", "bound 3.5", "R spectral", "R best norm", "gap"};
    figure.plot = {"sqrt h(rho) and rho",
                   "rho, percent",
                   "",
                   {{"sqrt h(rho)", {}, report::Stroke::Solid, 0}, {"rho", {}, report::Stroke::Dashed, 1}}};
    for (const engine::KernelPoint& point : engine::kernelCurve(20)) {
        figure.rows.push_back({point.rho, point.rootOfH, point.rootOfH - point.rho, point.bound, point.spectral,
                               point.best, point.spectral - point.best});
        figure.plot.curves[0].points.append(100 * point.rho, point.rootOfH);
        figure.plot.curves[1].points.append(100 * point.rho, point.rho);
    }
    figure.note = "R of a column at that correlation: with the spectral norm rho, and with the best one, sqrt h(rho).";
    return figure;
}

/// The mean ρ_SVD as a function of √(r/d).
Result<FigureTable> figureFour(const std::vector<LowRankMethod>& methods, std::uint64_t seed)
{
    FigureTable figure;
    figure.title = "Correlations that the spectral start keeps (figure 4): rows on the sphere, d = 20";
    figure.names = columnsWith({"m/d", "r/d", "sqrt(r/d)", "mean rho", "spread", "bound 3.5"}, methods);
    figure.plot = {"Mean correlation of the spectral start", "rank scale r/d, percent", "mean rho", {}};
    constexpr std::int64_t kInputs = 20;
    std::size_t colour = 0;
    for (const std::int64_t ratio : {2, 8, 32}) {
        std::vector<SphereCase> cases;
        for (const std::int64_t rank : {2, 5, 10, 15, 20}) {
            cases.push_back({kInputs, ratio * kInputs, rank, seed});
        }
        const std::vector<SpherePoint> points = RESIDUA_TRY(onTheSphere(cases, methods));
        report::PlotCurve curve{"m/d = " + std::to_string(ratio), {}, report::Stroke::Solid, colour++};
        for (const SpherePoint& point : points) {
            const double scale = double(point.of.rank) / double(kInputs);
            figure.rows.push_back({double(ratio), scale, std::sqrt(scale), point.meanCorrelation,
                                   point.correlationDeviation, point.bound});
            figure.rows.back().insert(figure.rows.back().end(), point.errors.begin(), point.errors.end());
            curve.points.append(100 * scale, point.meanCorrelation);
        }
        figure.plot.curves.push_back(std::move(curve));
    }
    report::PlotCurve root{"sqrt(r/d)", {}, report::Stroke::Dashed, colour};
    for (std::int64_t percent = 10; percent <= 100; percent += 5) {
        root.points.append(double(percent), std::sqrt(double(percent) / 100));
    }
    figure.plot.curves.push_back(std::move(root));
    figure.note = "the larger m/d, the closer the mean comes to sqrt(r/d).";
    return figure;
}

std::string csvOf(const FigureTable& figure)
{
    std::ostringstream csv;
    for (std::size_t k = 0; k < figure.names.size(); ++k) {
        std::string name = figure.names[k];
        std::ranges::replace_if(
            name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
        csv << (k == 0 ? "" : ",") << name;
    }
    csv << '\n';
    for (const std::vector<double>& row : figure.rows) {
        for (std::size_t k = 0; k < row.size(); ++k) {
            csv << (k == 0 ? "" : ",") << numberText(row[k]);
        }
        csv << '\n';
    }
    return csv.str();
}

void showFigure(const FigureTable& figure, const Console& console)
{
    std::vector<std::vector<std::string>> cells{figure.names};
    json points = json::array();
    for (const std::vector<double>& row : figure.rows) {
        std::vector<std::string> texts;
        json point = json::object();
        for (std::size_t k = 0; k < row.size(); ++k) {
            texts.push_back(cellOf(row[k]));
            point[figure.names[k]] = row[k];
        }
        cells.push_back(std::move(texts));
        points.push_back(std::move(point));
    }
    console.line(figure.title);
    console.line(console.table(cells));
    console.remark("note: " + figure.note);
    console.value({{"title", figure.title}, {"points", points}});
}

/// The default of --methods.
constexpr const char* kFigureMethods = "spectral,relu-svd,exact";

Result<FigureTable> figureOf(const Arguments& arguments)
{
    const std::vector<LowRankMethod> methods = RESIDUA_TRY(methodsFrom(arguments.text("methods", kFigureMethods)));
    const auto seed = std::uint64_t(arguments.integer("seed", 0));
    switch (arguments.integer("figure", 1)) {
    case 1:
        return figureOne(arguments.integer("largest", kLargestN), methods, seed);
    case 2:
        return figureTwo(arguments.integer("networks", engine::StartStudy().networks), seed);
    case 3:
        return figureThree();
    case 4:
        return figureFour(methods, seed);
    default:
        return Error{"--figure", "expected 1, 2, 3, 4 or 5"};
    }
}

} // namespace

Exit runLowRankFigure(const Arguments& arguments, const Console& console)
{
    if (!arguments.positional(0).empty()) {
        return console.fail(Exit::Usage, {"--figure", "draws weights of its own, so it takes no PROJECT"});
    }
    const FigureTable figure = RESIDUA_TRY_OR_FAIL(Exit::Usage, figureOf(arguments));
    if (arguments.has("output")) {
        return saveFigure([&] { return report::svgFile({figure.plot}); }, [&] { return csvOf(figure); },
                          std::to_string(figure.rows.size()) + " points", arguments, console,
                          {{"points", figure.rows.size()}});
    }
    showFigure(figure, console);
    return Exit::Ok;
}

std::vector<OptionSpec> lowRankFigureOptions()
{
    return {
        integerOption(
            "figure", "N",
            "figure 1, 2, 3 or 4 of the paper on low-rank initialisation with the solvers' results, or 5, the gains of "
            "DeepCrossAttention",
            1, 5),
        {"methods", OptionKind::Text, "LIST",
         "figures 1 and 4: separated by commas: " + projects::lowRankMethodWords() + " (default: " + kFigureMethods +
             ")"},
        {"largest", OptionKind::Integer, "N", "figure 1: up to this n (default: 300)", {}, 100, 1000},
        {"networks", OptionKind::Integer, "N", "figure 2: the mean is over so many (default: 6)", {}, 1, 1000},
        {"seed", OptionKind::Integer, "N", "the seed of the figures' weights (default: 0)", {}, 0}};
}

} // namespace residua::cli
