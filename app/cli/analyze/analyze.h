// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "projects/base/text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace residua::cli {

/// Returns a number as a cell of a table; "-" if it is unknown.
[[nodiscard]] inline std::string cellOf(double value, int digits = 4)
{
    return std::isnan(value) ? "-" : numberText(value, digits);
}
/// Reports the memory of kept values from which the passes of a knock-out or an intervention started.
template <class Ready>
void tellKept(const Ready& ready, const Console& console)
{
    if (ready.borderBytes > 0) {
        console.line("the passes started from kept values of " + bytesText(static_cast<double>(ready.borderBytes)));
    }
}
/// Returns the JSON that knock-outs and interventions have in common.
template <class Ready>
[[nodiscard]] nlohmann::json measuredJson(const Ready& ready)
{
    return {{"step", ready.step},
            {"batches", ready.batches},
            {"loss", ready.loss},
            {"keptBytes", ready.borderBytes},
            {"notes", ready.notes}};
}

/// Writes a CSV file for --output and reports it: `what` as text, the path and `told` as JSON.
[[nodiscard]] Exit saveNumbers(const std::string& csv, const std::string& what, const Arguments& arguments,
                               const Console& console, nlohmann::json told = nlohmann::json::object());
/// Does so for a figure: FILE.svg is its picture, FILE.csv or - its numbers. Another suffix is refused.
[[nodiscard]] Exit saveFigure(const std::function<std::string()>& svg, const std::function<std::string()>& csv,
                              const std::string& what, const Arguments& arguments, const Console& console,
                              nlohmann::json told = nlohmann::json::object());

/// `analyze gap`: the distance of each factored weight's layer from the full one's function, by method, for a project's
/// initial weights or a run's learned weights.
[[nodiscard]] Exit runGap(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> gapOptions();

/// `analyze stability`: the effect of each layer on the network of a run's checkpoint (RaPTr, section 5), or, with
/// --figure 4, the paper's linear network at increasing depths.
[[nodiscard]] Exit runStability(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> stabilityOptions();

/// `analyze knockout`: what a checkpoint's network loses without each of its shortcuts, layers, halves or streams.
[[nodiscard]] Exit runKnockout(const Arguments& arguments, const Console& console);

/// `analyze visits`: a loop of a run's checkpoint, or of a project at its start, over its visits.
[[nodiscard]] Exit runVisits(const Arguments& arguments, const Console& console);

/// `analyze interventions`: what the network of a run's checkpoint loses with other values in its parallel streams, or
/// other matrices between them.
[[nodiscard]] Exit runInterventions(const Arguments& arguments, const Console& console);

/// `analyze theory`: the results of DeepCrossAttention §4 for a low-rank linear model of numbers or a project.
[[nodiscard]] Exit runTheory(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> theoryOptions();

/// `analyze theory --figure 5`: both panels of DeepCrossAttention's figure 5 at several widths, as a table, CSV or SVG.
[[nodiscard]] Exit runGrnGains(const Arguments& arguments, const Console& console);

/// `analyze theory --figure N`: figures 1 to 4 of the paper on low-rank initialisation, with the solvers' results.
[[nodiscard]] Exit runLowRankFigure(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> lowRankFigureOptions();

/// `analyze theory --theorem I.1`: the steps that the phases of RaPTr's theorem I.1 need at each learning rate, beside
/// the theorem's count, as a table, CSV or SVG.
[[nodiscard]] Exit runSinePhases(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> sinePhasesOptions();

/// `analyze coefficients RUN --distribution`: the median over the features of every weight that a checkpoint holds,
/// with the 5th and the 95th percentile (DeepCrossAttention, figure 10), as a table, CSV or SVG.
[[nodiscard]] Exit runDistribution(const Arguments& arguments, const Console& console);

/// `analyze layers RUN`: every layer with its shape, cost and recorded numbers, as a table, JSON or CSV.
[[nodiscard]] Exit runLayers(const Arguments& arguments, const Console& console);

/// `analyze metrics RUN...`: all recorded time series of runs, as a table of their last values, JSON or CSV.
[[nodiscard]] Exit runMetrics(const Arguments& arguments, const Console& console);

} // namespace residua::cli
