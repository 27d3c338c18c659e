// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/runs/runs_model.h"

#include <QWidget>

class QLabel;
class QTableView;
class QToolButton;

namespace residua::app {

/// The list of runs: the check overlays a run's curves, double-click or Enter shows its coefficients.
class RunsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RunsPanel(RunsModel& model, QWidget* parent = nullptr);

signals:
    void showRequested(const std::string& directory);
    void resumeRequested(const std::string& directory);

private:
    [[nodiscard]] const engine::RunInfo* current() const;
    void updateState();

    RunsModel& m_model;
    QTableView* m_table;
    QLabel* m_empty;
    QToolButton* m_show;
    QToolButton* m_resume;
};

} // namespace residua::app
