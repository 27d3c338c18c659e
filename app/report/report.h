// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"
#include "engine/base/api/gap.h"
#include "engine/runs/results/run_reader.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::report {

/// Returns a run as one self-contained HTML page: summary, losses, mixing coefficients with a step slider, throughput,
/// events and the document. Needs no display. Returns an error if the run cannot be read.
[[nodiscard]] Result<std::string> reportHtml(const engine::RunReader& run);

/// Writes the report to `path` (writeOutput).
[[nodiscard]] Status writeReport(const std::filesystem::path& runDirectory, const std::filesystem::path& path);

/// A comparison of several runs.
struct Comparison {
    std::string title;
    std::vector<engine::RunInfo> runs;
    std::optional<std::filesystem::path> folder =
        {};                    ///< keeps the colours and notes of groups (engine::groupsFolderOf)
    std::string baseline = {}; ///< a group or run, as engine::groupNamed(); empty: none
    /// Whether a baseline that names one run means all seeds of its group.
    enum class Baseline { AsNamed, WholeGroup } baselineIs = Baseline::AsNamed;
    std::string notes = {};                ///< Markdown at the beginning
    std::vector<std::string> missing = {}; ///< names of what cannot be shown
    std::set<std::string> hidden = {};     ///< directories of runs and keys of groups without curves
    std::vector<std::string> columns = {}; ///< engine::PageView::columns; empty: the report's own
};

/// A comparison as a page, and its baseline as a page of the project names it.
struct ComparisonPageText {
    std::string html;
    std::string baselineRun = {}; ///< directory of the baseline's first run; empty: no baseline
    bool baselineAlone = false;   ///< true if the baseline is that run without the others of its group
};

/// Returns the runs, sorted by name, as one self-contained HTML page: groups with means, their differences from the
/// baseline and the notes; overlaid losses, theorems on them, loss over cost with its Pareto front, and a table. Runs
/// that have not finished are marked, and have no loss in the table and no point of the cost. Returns an error if no
/// run can be read, or the baseline is unknown.
[[nodiscard]] Result<ComparisonPageText> comparisonHtml(const Comparison& comparison);
/// Returns the page that this file of a folder of runs describes (engine::StudyPage). Runs that are missing are named
/// on it.
[[nodiscard]] Result<std::string> pageHtml(const std::filesystem::path& file);

/// Returns the distance of a run's initial factors from the full weights as a part of its page: a row with a bar for
/// each weight, limited to the first ones. Empty without weights.
[[nodiscard]] std::string gapSection(const engine::Gap& gap);

/// Returns the name of a matrix in the tower that it is of. The name of a tower other than the first precedes a dot,
/// and other names have no dot.
[[nodiscard]] engine::MatrixName inTower(const engine::MatrixName& name);

/// Returns a run's recorded numbers of its layers, of each tower, or of the degrees of its target, as curves over the
/// steps (row_curves.h). Includes as many columns as a page has colours, evenly spaced, with the first and the last.
[[nodiscard]] std::vector<PlotSpec> rowFigures(const engine::RunReader& run);

/// The recorded error of every degree of a Boolean polynomial, from degree 1, over the steps; without names. Empty
/// where none is recorded.
[[nodiscard]] std::vector<PlotCurve> degreeErrors(const engine::RunReader& run);

} // namespace residua::report
