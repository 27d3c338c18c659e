// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to sweep_panel.cpp: the part of the panel that only shows results.

#include <QTabWidget>

class QTableView;
class QTableWidget;

namespace residua::visualizers {
class ParallelView;
}

namespace residua::app {

class SweepGridModel;

/// The members of a sweep as a table, and once some have finished the best rate of each topology and parallel
/// coordinates. GUI thread.
class SweepTabs : public QTabWidget {
    Q_OBJECT
public:
    /// Follows `grid`, which must outlive it. Takes ownership of `members`, the table of the grid.
    SweepTabs(const SweepGridModel& grid, QTableView* members, QWidget* parent = nullptr);

private:
    void showResults();
    void fillBest();

    const SweepGridModel& m_grid;
    QTableWidget* m_best;
    visualizers::ParallelView* m_parallel;
};

} // namespace residua::app
