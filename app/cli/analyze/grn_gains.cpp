// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/analyze/analyze.h"

#include "app/report/svg_plot.h"
#include "engine/maths/theory/low_rank_model.h"

#include <array>
#include <sstream>

namespace residua::cli {
namespace {

namespace theory = engine::theory;
using nlohmann::json;

constexpr std::array<std::int64_t, 3> kWidths{100, 300, 1000}; ///< d, which the paper does not print
constexpr double kLambdaMax = 10;
constexpr double kLambdaMin = 5;          ///< of the left panel
constexpr std::int64_t kRank = 50;        ///< r* of the right panel
constexpr std::int64_t kMostRank = 99;    ///< of the left panel: below the smallest width
constexpr std::int64_t kKappaParts = 100; ///< κ goes up in hundredths

/// One point of a panel: the horizontal number counts ranks, or hundredths of κ.
struct GainPoint {
    std::int64_t at = 0;
    theory::PerGrn gains;
};
struct GainCurve {
    std::int64_t width = 0;
    std::vector<GainPoint> points;
};
struct Panel {
    const char* name;
    report::PlotSpec plot;
    std::vector<GainCurve> curves;
};

/// The gains at every `at` from 1 to `last`; `spectrumAt` and `rankAt` say at what.
Result<GainCurve> curveOf(std::int64_t width, std::int64_t last, theory::Statement statement, const auto& spectrumAt,
                          const auto& rankAt)
{
    GainCurve curve{width, {}};
    for (std::int64_t at = 1; at <= last; ++at) {
        const auto gains = RESIDUA_TRY(theory::gainBounds(spectrumAt(at), width, rankAt(at), statement));
        curve.points.push_back({at, gains});
    }
    return curve;
}

Result<std::array<Panel, 2>> panelsOf(theory::Statement statement)
{
    std::array<Panel, 2> panels{Panel{"left",
                                      {"Gain over ResNet by its collective rank (DeepCrossAttention, figure 5, left)",
                                       "collective rank r*",
                                       "excess risk saved, at least",
                                       {}},
                                      {}},
                                Panel{"right",
                                      {"Gain over ResNet by the target's complexity (figure 5, right; r* = 50)",
                                       "lambda_min / lambda_max",
                                       "excess risk saved, at least",
                                       {}},
                                      {}}};
    panels[1].plot.xLeast = 0;
    for (const std::int64_t width : kWidths) {
        const auto fixed = [](std::int64_t) { return theory::TargetSpectrum{kLambdaMin, kLambdaMax}; };
        const auto byKappa = [](std::int64_t at) {
            return theory::TargetSpectrum{kLambdaMax * static_cast<double>(at) / kKappaParts, kLambdaMax};
        };
        auto left =
            curveOf(width, kMostRank, statement, fixed, [](std::int64_t at) { return static_cast<double>(at); });
        auto right = curveOf(width, kKappaParts, statement, byKappa, [](std::int64_t) { return double(kRank); });
        if (!left || !right) {
            return left ? right.error() : left.error();
        }
        panels[0].curves.push_back(*std::move(left));
        panels[1].curves.push_back(*std::move(right));
    }
    return panels;
}

std::string csvOf(const std::array<Panel, 2>& panels)
{
    std::ostringstream csv;
    csv << "panel,d,collective_rank,kappa,g1,g2,g3\n";
    for (const Panel& panel : panels) {
        const bool byRank = &panel == panels.data();
        for (const GainCurve& curve : panel.curves) {
            for (const auto& [at, gains] : curve.points) {
                const double kappa = byRank ? kLambdaMin / kLambdaMax : static_cast<double>(at) / kKappaParts;
                csv << panel.name << ',' << curve.width << ',' << (byRank ? at : kRank) << ',' << numberText(kappa)
                    << ',' << numberText(gains.v1) << ',' << numberText(gains.v2) << ',' << numberText(gains.v3)
                    << '\n';
            }
        }
    }
    return csv.str();
}

/// G1 solid and G2 dashed, a colour for each width.
std::string svgOf(const std::array<Panel, 2>& panels)
{
    std::vector<report::PlotSpec> plots;
    for (const Panel& panel : panels) {
        report::PlotSpec plot = panel.plot;
        for (std::size_t i = 0; i < panel.curves.size(); ++i) {
            const std::string width = ", d = " + std::to_string(panel.curves[i].width);
            plot.curves.push_back({"G1" + width, {}, report::Stroke::Solid, i});
            plot.curves.push_back({"G2" + width, {}, report::Stroke::Dashed, i});
            for (const auto& [at, gains] : panel.curves[i].points) {
                const double x = static_cast<double>(at) / (&panel == panels.data() ? 1 : kKappaParts);
                (plot.curves.end() - 2)->points.append(x, gains.v1);
                plot.curves.back().points.append(x, gains.v2);
            }
        }
        plots.push_back(std::move(plot));
    }
    return report::svgFile(plots);
}

void show(const std::array<Panel, 2>& panels, const Console& console)
{
    json told = json::array();
    for (const Panel& panel : panels) {
        const bool byRank = &panel == panels.data();
        std::vector<std::vector<std::string>> rows{{"d", byRank ? "r*" : "kappa", "G1", "G2", "G3"}};
        for (const GainCurve& curve : panel.curves) {
            for (const auto& [at, gains] : curve.points) {
                const double x = byRank ? static_cast<double>(at) : static_cast<double>(at) / kKappaParts;
                told.push_back({{"panel", panel.name},
                                {"dimension", curve.width},
                                {byRank ? "rank" : "kappa", x},
                                {"g1", gains.v1},
                                {"g2", gains.v2},
                                {"g3", gains.v3}});
                if (at % 20 == 0) {
                    rows.push_back({std::to_string(curve.width), numberText(x, 3), numberText(gains.v1, 5),
                                    numberText(gains.v2, 5), numberText(gains.v3, 5)});
                }
            }
        }
        console.line(panel.plot.title + "\n" + console.table(rows));
    }
    console.value(told);
}

} // namespace

Exit runGrnGains(const Arguments& arguments, const Console& console)
{
    if (!arguments.positional(0).empty()) {
        return console.fail(Exit::Usage, {"--figure", "5 has targets of its own, so it takes no PROJECT"});
    }
    const auto panels = RESIDUA_TRY_OR_FAIL(
        Exit::Usage, panelsOf(arguments.has("printed") ? theory::Statement::Printed : theory::Statement::Proved));
    if (!arguments.has("output")) {
        show(panels, console);
        return Exit::Ok;
    }
    return saveFigure([&] { return svgOf(panels); }, [&] { return csvOf(panels); },
                      "two panels at " + std::to_string(kWidths.size()) + " widths", arguments, console);
}

} // namespace residua::cli
