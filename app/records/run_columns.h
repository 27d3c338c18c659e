// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/model/project.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/shown_runs.h"

#include <QObject>
#include <QString>
#include <QVariant>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace residua::app {

class RunsModel;

/// A column that the list of runs can show beside its own: a field of what was trained, or a cost.
struct RunColumn {
    QString key; ///< in the user's settings: "/training/batch", "cost:parameters"
    QString title;
    std::map<std::string, QVariant> values; ///< by the run's directory; a number or a text
    /// Returns the value of a run; invalid if it has none.
    [[nodiscard]] QVariant of(const engine::RunInfo& run) const;
    bool operator==(const RunColumn&) const = default;
};

/// The fields that decide the training and are not the same in all of these projects, and the wiring if it differs.
[[nodiscard]] std::vector<RunColumn> differingFields(const std::map<std::string, projects::Project>& projects);
/// The key of the column of groups (studyColumns), in the user's settings.
inline constexpr const char* kGroupColumn = "experiment";
/// The key of the column with the mean training loss of the last steps.
inline constexpr const char* kLastLossColumn = "cost:lastLoss";
/// Returns a column of the runs' sweeps, if not all belong to the same, and one of their groups, if runs repeat a
/// configuration. `looks` are those of ShownRuns.
[[nodiscard]] std::vector<RunColumn> studyColumns(const std::vector<engine::RunInfo>& runs,
                                                  const std::map<std::string, visualizers::ShownRuns::Look>& looks);
/// Parameters, FLOP, time and the loss of the last steps of each run.
[[nodiscard]] std::vector<RunColumn> costColumns(const std::vector<visualizers::ParetoRun>& runs);

/// The last values of the metrics, except for losses, that rate one of the runs.
[[nodiscard]] std::vector<RunColumn> metricColumns(const std::vector<engine::RunInfo>& runs);

/// Reads what each run of the list trains, off the GUI thread and once for each run, and offers the fields that differ
/// and the studies as columns. Groups the runs, in the colours that the project's folder of runs keeps.
class RunFields : public QObject {
    Q_OBJECT
public:
    /// Follows the list, which it does not outlive.
    explicit RunFields(RunsModel& runs, QObject* parent = nullptr);

private:
    void read();
    void offer();
    void group();

    RunsModel& m_runs;
    std::map<std::string, projects::Project> m_projects; ///< by directory
    std::set<std::string> m_unreadable;                  ///< directories of runs whose project cannot be read
    /// The directories, names and parents of the runs as they were grouped.
    std::vector<std::array<std::string, 3>> m_grouped;
    bool m_reading = false;
};

} // namespace residua::app
