// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/compared_runs.h"
#include "app/report/report.h"
#include "app/report/svg_plot.h"
#include "engine/base/api/values.h"
#include "engine/runs/results/run_groups.h"
#include "projects/studies/paired_difference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace residua::report {

/// Returns the curve of a run or group: solid for the first kPageColours colour numbers, then in two kinds of dashes.
[[nodiscard]] PlotCurve curveOf(const std::string& name, std::size_t colour, resources::Curve points);

/// Returns HTML with the evaluation of each sweep that the runs belong to: the best values of the axes that set the
/// training for each point of the others, and the share of the variance that each axis explains. Empty if no sweep has
/// enough finished runs.
[[nodiscard]] std::string sweepSections(std::span<const engine::RunInfo> runs);

/// Writes the page of a comparison. Its parts about groups, their baseline and the notes are in comparison_groups.cpp.
class ComparisonPage {
public:
    /// `found` has a run.
    ComparisonPage(const Comparison& asked, ComparedRuns found);

    /// Returns an error if the baseline is unknown.
    [[nodiscard]] Result<ComparisonPageText> html();

private:
    [[nodiscard]] std::vector<engine::RunInfo> infos() const;
    [[nodiscard]] std::vector<engine::TrainedRun> trained() const;
    /// Groups the runs, in the colours that the folder keeps, and labels them.
    void group();
    /// Finds the baseline by its name. Returns an error for an unknown name.
    [[nodiscard]] Status findBaseline();
    /// Returns the mean of what the group's finished runs are judged by, and of their FLOP.
    [[nodiscard]] projects::MeanOfSeveral resultOf(const engine::RunGroup& group) const;
    [[nodiscard]] double flopsOf(const engine::RunGroup& group) const;
    /// True if the group's runs repeat it with other seeds, so that they share an entry in legends.
    [[nodiscard]] bool sharesName(const engine::RunGroup& group) const;
    [[nodiscard]] std::string nameOf(std::size_t run) const;
    /// True if the page that was asked for draws curves of the run.
    [[nodiscard]] bool isDrawn(std::size_t run) const;
    /// Says which runs have no curves.
    void notDrawn();
    /// True unless the list of runs hides this column of its own.
    [[nodiscard]] bool hasColumn(const char* key) const;
    [[nodiscard]] std::size_t colourOf(std::size_t run) const { return m_groups.groupOf(run).colour; }
    [[nodiscard]] std::string counts() const;
    void groupTable();
    /// Adds the notes of the groups and of the runs.
    void notes();
    void note(std::size_t colour, const std::string& label, const std::string& markdown);
    [[nodiscard]] projects::SeededSeries lossesOf(const engine::RunGroup& group) const;
    /// Adds the differences of the training losses from the baseline's at each step.
    void lossDifferences();
    /// Adds a figure with a suitable scale. Returns false if it would be empty.
    bool draw(PlotSpec spec);
    void curves(const std::string& title, const std::string& label, const std::string& metric);
    /// Returns the validation loss if every run has it, else the training loss.
    [[nodiscard]] const char* comparedLoss() const;
    void lossesByTime();
    void degrees();
    void bounds();
    void costs();
    void starts();
    void table();
    void reached();
    void differences();
    [[nodiscard]] bool onFront(std::size_t group) const { return std::ranges::find(m_front, group) != m_front.end(); }
    [[nodiscard]] static std::string swatch(std::size_t colour);

    const Comparison& m_asked;
    std::vector<ComparedRun> m_runs;
    std::vector<std::string> m_faults;
    engine::RunGroups m_groups;
    std::optional<engine::RunGroup> m_baseline;  ///< a group, or one run of it
    std::int64_t m_lastSteps = 1;                ///< of training, in means
    std::vector<std::size_t> m_front;            ///< indices of groups, by cost
    std::vector<engine::MetricTraits> m_ratings; ///< besides the losses
    std::ostringstream m_out;
};

} // namespace residua::report
