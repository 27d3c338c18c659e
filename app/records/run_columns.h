// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/model/project.h"
#include "visualizers/pareto/pareto_view.h"

#include <QObject>
#include <QString>
#include <QVariant>

#include <map>
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
/// Returns a column of the runs' sweeps, if not all belong to the same, and one of their settings, if runs repeat them:
/// runs that differ in their seeds alone have the same value. It is the common part of their names, followed by the
/// fields that differ if runs with other settings have that name too, and by a number if no such field tells them
/// apart.
[[nodiscard]] std::vector<RunColumn> studyColumns(const std::vector<engine::RunInfo>& runs,
                                                  const std::map<std::string, projects::Project>& projects);
/// Parameters, FLOP and time of each run.
[[nodiscard]] std::vector<RunColumn> costColumns(const std::vector<visualizers::ParetoRun>& runs);

/// The last values of the metrics, except for losses, that rate one of the runs.
[[nodiscard]] std::vector<RunColumn> metricColumns(const std::vector<engine::RunInfo>& runs);

/// Reads what each run of the list trains, off the GUI thread and once for each run, and offers the fields that differ
/// and the studies as columns.
class RunFields : public QObject {
    Q_OBJECT
public:
    /// Follows the list, which it does not outlive.
    explicit RunFields(RunsModel& runs, QObject* parent = nullptr);

private:
    void read();
    void offer();

    RunsModel& m_runs;
    std::map<std::string, projects::Project> m_projects; ///< by directory
    bool m_reading = false;
};

} // namespace residua::app
