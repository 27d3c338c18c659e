// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/training/go_on_request.h"
#include "engine/api/values.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <QDialog>

#include <cstdint>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace residua::app {

/// The data of a run that can be continued.
struct GoOnSource {
    engine::RunInfo info;
    projects::Project project;             ///< the trained project
    std::vector<std::int64_t> checkpoints; ///< steps, ascending
};
/// Blocks; any thread.
[[nodiscard]] Result<GoOnSource> readGoOnSource(const std::string& runDirectory);

/// Asks for the checkpoint from which a run continues and the number of steps. For a retrofit, also asks for the
/// topology; for factors, for their rank and method; with the change of the cost. It stays open until the request is
/// completed, to show errors. Not modal.
class GoOnDialog : public QDialog {
    Q_OBJECT
public:
    /// `wired` is the open project's topology, which a retrofit lists first.
    GoOnDialog(GoOnKind kind, GoOnSource source, projects::Topology wired, QWidget* parent = nullptr);

    [[nodiscard]] const std::string& run() const { return m_source.info.directory; }
    /// Shows the reason why the request failed. The user can make another request.
    void refuse(const QString& reason);

signals:
    void chosen(const residua::app::GoOnRequest& request);

private:
    void fillCheckpoints();
    void fillTopologies(const projects::Topology& wired);
    void fillFactors();
    void addRows(QFormLayout& form);
    void connectFields();
    void update();
    void choose();
    [[nodiscard]] std::int64_t step() const;
    [[nodiscard]] Result<projects::Topology> topology() const;
    /// Returns the run's project as it would be trained, or the run's own project if nothing changes.
    [[nodiscard]] Result<projects::Project> changed() const;
    [[nodiscard]] QString costText(const projects::Project& wanted) const;

    GoOnKind m_kind;
    GoOnSource m_source;
    std::vector<projects::Topology> m_topologies; ///< of the list
    QComboBox* m_step;
    QSpinBox* m_steps;
    QComboBox* m_topology;  ///< for a retrofit
    QDoubleSpinBox* m_rank; ///< for factors, like the next two
    QComboBox* m_method;
    QComboBox* m_inputs;
    QLabel* m_cost;
    QCheckBox* m_otherData;
    QLabel* m_reason;
    QPushButton* m_go = nullptr;
};

} // namespace residua::app
