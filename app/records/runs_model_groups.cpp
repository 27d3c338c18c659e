// SPDX-License-Identifier: GPL-3.0-or-later
// The groups of the list of runs.
#include "app/look/format.h"
#include "app/records/runs_model.h"
#include "visualizers/runs/shown_runs.h"

#include <algorithm>
#include <utility>

namespace residua::app {

/// Groups have a name and a check box alone.
QVariant RunsModel::groupData(const QModelIndex& index, int role) const
{
    if (index.column() != Name) {
        return {};
    }
    const std::size_t group = index.internalId();
    const std::vector<std::size_t> runs = m_tree.runsBelow(group);
    switch (role) {
    case Qt::DisplayRole:
        return tr("%1 (%2)").arg(m_tree.titleOf(group), formatWhole(static_cast<qlonglong>(runs.size())));
    case Qt::ToolTipRole:
    case kSortRole:
    case kFilterRole:
        return m_tree.titleOf(group);
    case Qt::CheckStateRole: {
        const auto overlaid =
            std::ranges::count_if(runs, [this](std::size_t run) { return m_shown.isOverlaid(m_runs[run].directory); });
        return overlaid == 0                          ? Qt::Unchecked
               : overlaid == std::ranges::ssize(runs) ? Qt::Checked
                                                      : Qt::PartiallyChecked;
    }
    default:
        return {};
    }
}

std::vector<RunColumn> RunsModel::groupings() const
{
    std::vector<RunColumn> columns;
    for (const int own : {int(State), int(Device), int(Tags)}) {
        columns.push_back({keyOf(own), headerData(own, Qt::Horizontal, Qt::DisplayRole).toString(), {}});
        for (std::size_t run = 0; run < m_runs.size(); ++run) {
            const QString text = textOf(run, own);
            columns.back().values[m_runs[run].directory] = text.isEmpty() ? QVariant() : text;
        }
    }
    if (const auto fields = m_offered.find(ColumnSource::Fields); fields != m_offered.end()) {
        columns.insert(columns.end(), fields->second.begin(), fields->second.end());
    }
    return columns;
}

void RunsModel::groupBy(const QString& key)
{
    m_grouping = key;
    regroup();
}

std::vector<QString> RunsModel::groupTitles() const
{
    const std::vector<RunColumn> columns = m_grouping.isEmpty() ? std::vector<RunColumn>() : groupings();
    const auto column = std::ranges::find(columns, m_grouping, &RunColumn::key);
    std::vector<QString> titles;
    for (std::size_t run = 0; run < m_runs.size() && column != columns.end(); ++run) {
        titles.push_back(textOf(column->of(m_runs[run])));
    }
    return titles;
}

void RunsModel::regroup()
{
    if (std::vector<QString> titles = groupTitles(); titles != m_groupTitles) {
        beginResetModel();
        m_groupTitles = std::move(titles);
        m_tree = RunTree(m_runs, m_groupTitles);
        endResetModel();
    }
}

} // namespace residua::app
