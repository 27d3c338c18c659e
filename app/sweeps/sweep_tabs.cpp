// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_tabs.h"

#include "app/look/theme.h"
#include "app/sweeps/sweep_grid_model.h"
#include "visualizers/sweeps/parallel_view.h"

#include <QHeaderView>
#include <QTableView>
#include <QTableWidget>

#include <string>
#include <vector>

namespace residua::app {

SweepTabs::SweepTabs(const SweepGridModel& grid, QTableView* members, QWidget* parent)
    : QTabWidget(parent), m_grid(grid), m_best(new QTableWidget(this)), m_parallel(new visualizers::ParallelView(this))
{
    setObjectName(QStringLiteral("sweepTabs"));
    setAccessibleName(tr("Members and results of the sweep"));
    setDocumentMode(true);
    m_best->setObjectName(QStringLiteral("sweepBest"));
    m_best->setAccessibleName(tr("The best values of each topology"));
    m_best->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_best->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_best->setShowGrid(false);
    m_best->verticalHeader()->hide();
    m_best->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_best->horizontalHeader()->setStretchLastSection(true);
    m_best->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    addTab(members, tr("Members"));
    addTab(m_best, tr("Best"));
    addTab(m_parallel, tr("Parallel coordinates"));
    connect(&m_grid, &QAbstractItemModel::modelReset, this, &SweepTabs::showResults);
    connect(&m_grid, &QAbstractItemModel::dataChanged, this, &SweepTabs::showResults);
    showResults();
}

void SweepTabs::showResults()
{
    fillBest();
    m_parallel->setResults(m_grid.sweep(), m_grid.results(), m_grid.judge());
}

/// Fills the table of the best values: the compared axes, the searched ones, the mean over seeds, and doubts.
void SweepTabs::fillBest()
{
    const projects::Sweep& sweep = m_grid.sweep();
    const auto bests = projects::bestOfEach(sweep, m_grid.results(), m_grid.judge());
    QStringList titles;
    QStringList searched;
    for (const std::string& label : projects::axisLabels(sweep, projects::AxisRole::Compared)) {
        titles << QString::fromStdString(label);
    }
    for (const std::string& label : projects::axisLabels(sweep, projects::AxisRole::Searched)) {
        searched << QString::fromStdString(label);
    }
    setTabVisible(1, !searched.isEmpty());
    setTabText(1, tr("Best %1").arg(searched.join(QStringLiteral(", "))));
    titles << searched << tr("%1 over seeds").arg(QString::fromStdString(std::string(m_grid.judge().quantity)))
           << tr("Doubt");
    m_best->setColumnCount(static_cast<int>(titles.size()));
    m_best->setHorizontalHeaderLabels(titles);
    m_best->setRowCount(static_cast<int>(bests.size()));
    for (int row = 0; row < m_best->rowCount(); ++row) {
        const projects::BestOfEach& best = bests[static_cast<std::size_t>(row)];
        std::vector<std::string> cells = best.compared;
        cells.insert(cells.end(), best.best.begin(), best.best.end());
        cells.insert(cells.end(), {textOf(best.mean), remarkOn(best)});
        for (int column = 0; column < m_best->columnCount(); ++column) {
            auto* cell = new QTableWidgetItem(QString::fromStdString(cells[static_cast<std::size_t>(column)]));
            if (column >= static_cast<int>(best.compared.size()) && column + 1 < m_best->columnCount()) {
                cell->setFont(numberFont());
            }
            m_best->setItem(row, column, cell);
        }
    }
}

} // namespace residua::app
