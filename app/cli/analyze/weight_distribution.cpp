// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/report/svg_plot.h"
#include "engine/base/api/matrix_name.h"
#include "engine/runs/results/coefficients.h"

#include <algorithm>
#include <sstream>

namespace residua::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPanels = 10; ///< readers in a picture

/// One weight's distribution over its features.
struct Spread {
    std::int64_t target = 0;
    std::int64_t source = 0;
    double low = 0; ///< 5th percentile
    double median = 0;
    double high = 0; ///< 95th percentile
};
struct Distribution {
    std::string name; ///< of the matrix: "mix", "mix/q"
    std::vector<Spread> weights;
};

/// By linear interpolation; `sorted` is ascending and not empty.
double quantile(const std::vector<float>& sorted, double share)
{
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double weight = at - static_cast<double>(below);
    return (1 - weight) * static_cast<double>(sorted[below]) + weight * static_cast<double>(sorted[above]);
}

Distribution distributionOf(const engine::CoefficientTensor& tensor)
{
    Distribution distribution{tensor.name.text(), {}};
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        for (std::int64_t column = 0; column < tensor.columns; ++column) {
            const auto first = tensor.values.begin() + (row * tensor.columns + column) * tensor.features;
            std::vector<float> values(first, first + tensor.features);
            if (std::ranges::any_of(values, [](float value) { return std::isnan(value); })) {
                continue; // there is no such shortcut
            }
            std::ranges::sort(values);
            distribution.weights.push_back(
                {row + 1, column, quantile(values, 0.05), quantile(values, 0.5), quantile(values, 0.95)});
        }
    }
    return distribution;
}

std::string csvOf(const std::vector<Distribution>& all)
{
    std::ostringstream csv;
    csv << "matrix,target,source,p05,median,p95\n";
    for (const Distribution& distribution : all) {
        for (const Spread& weight : distribution.weights) {
            csv << distribution.name << ',' << weight.target << ',' << weight.source << ',' << numberText(weight.low)
                << ',' << numberText(weight.median) << ',' << numberText(weight.high) << '\n';
        }
    }
    return csv.str();
}

report::PlotSpec panelOf(const Distribution& distribution, std::int64_t target)
{
    report::PlotSpec panel{
        distribution.name + ", reader " + std::to_string(target), "stack entry", "weight over the features", {}};
    panel.curves = {{"5 %", {}, report::Stroke::Dashed, 0},
                    {"median", {}, report::Stroke::Solid, 0},
                    {"95 %", {}, report::Stroke::Dashed, 0}};
    for (const Spread& weight : distribution.weights) {
        if (weight.target == target) {
            const auto source = static_cast<double>(weight.source);
            panel.curves[0].points.append(source, weight.low);
            panel.curves[1].points.append(source, weight.median);
            panel.curves[2].points.append(source, weight.high);
        }
    }
    return panel;
}

/// A panel for each reader of two entries or more; of many readers an even choice with the first and the last.
std::string svgOf(const std::vector<Distribution>& all)
{
    std::vector<report::PlotSpec> panels;
    for (const Distribution& distribution : all) {
        std::int64_t before = 0;
        for (const Spread& weight : distribution.weights) {
            if (weight.target != before && weight.target > 1) {
                panels.push_back(panelOf(distribution, weight.target));
            }
            before = weight.target;
        }
    }
    std::vector<report::PlotSpec> shown;
    const std::size_t count = std::min(panels.size(), kMostPanels);
    for (std::size_t i = 0; i < count; ++i) {
        shown.push_back(panels[count < 2 ? 0 : i * (panels.size() - 1) / (count - 1)]);
    }
    return report::svgFile(shown);
}

void show(const std::vector<Distribution>& all, std::int64_t step, const Console& console)
{
    json list = json::array();
    for (const Distribution& distribution : all) {
        std::vector<std::vector<std::string>> rows{{"j", "i", "5 %", "median", "95 %"}};
        json weights = json::array();
        for (const Spread& weight : distribution.weights) {
            rows.push_back({std::to_string(weight.target), std::to_string(weight.source), numberText(weight.low, 4),
                            numberText(weight.median, 4), numberText(weight.high, 4)});
            weights.push_back({{"target", weight.target},
                               {"source", weight.source},
                               {"p05", weight.low},
                               {"median", weight.median},
                               {"p95", weight.high}});
        }
        console.line(distribution.name + " at step " + groupedText(step) + "\n" + console.table(rows) + "\n");
        list.push_back({{"name", distribution.name}, {"weights", weights}});
    }
    console.value({{"step", step}, {"matrices", list}});
}

} // namespace

Exit runDistribution(const Arguments& arguments, const Console& console)
{
    for (const char* const other : {"feature", "against", "log-ratio"}) {
        if (arguments.has(other)) {
            return console.fail(Exit::Usage, {"--distribution", "excludes --" + std::string(other)});
        }
    }
    const auto tensors = RESIDUA_TRY_OR_FAIL(
        Exit::RunFailed, engine::checkpointCoefficients(arguments.positional(0), arguments.integer("step")));
    std::vector<Distribution> all;
    for (const engine::CoefficientTensor& tensor : tensors) {
        const bool wanted = !arguments.has("port") || nameOf(tensor.name.port) == arguments.text("port");
        if (tensor.name.kind == engine::matrix::kMix && tensor.features > 1 && wanted) {
            all.push_back(distributionOf(tensor));
        }
    }
    if (all.empty()) {
        return console.fail(Exit::RunFailed, {arguments.positional(0), "has no weights of single features"});
    }
    if (!arguments.has("output")) {
        show(all, tensors.front().step, console);
        return Exit::Ok;
    }
    return saveFigure([&] { return svgOf(all); }, [&] { return csvOf(all); },
                      "the distributions of " + std::to_string(all.size()) +
                          (all.size() == 1 ? " matrix" : " matrices"),
                      arguments, console);
}

} // namespace residua::cli
