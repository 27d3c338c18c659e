// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/records/runs_model.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "visualizers/runs/shown_runs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace residua::app {
namespace {

/// Returns the run that `run` was forked from, or kRoot. A parent is known by its folder's name, because the project
/// may have moved since. A parent is older than its forks, so that a circle that someone wrote by hand has a root.
std::size_t forkedFrom(const std::vector<engine::RunInfo>& runs, std::size_t run)
{
    const auto nameOf = [](const std::string& directory) { return std::filesystem::path(directory).filename(); };
    std::size_t parent = RunTree::kRoot;
    for (std::size_t other = 0; other < runs.size() && !runs[run].parent.empty(); ++other) {
        if (other != run && runs[other].created <= runs[run].created &&
            (runs[other].created < runs[run].created || other > run) &&
            nameOf(runs[other].directory) == nameOf(runs[run].parent)) {
            parent = other;
        }
    }
    return parent;
}

} // namespace

RunTree::RunTree(const std::vector<engine::RunInfo>& runs, const std::vector<QString>& groups) : m_runs(runs.size())
{
    std::map<QString, std::size_t> places; // of the groups, by title
    for (std::size_t run = 0; run < groups.size(); ++run) {
        if (const QString& title = groups[run]; !title.isEmpty()) {
            const auto [place, isNew] = places.emplace(title, m_titles.size());
            if (isNew) {
                m_titles.push_back(title);
                m_members.emplace_back();
            }
            m_members[place->second].push_back(run);
        }
    }
    m_parents.assign(m_runs + m_titles.size(), kRoot);
    for (std::size_t run = 0; run < m_runs; ++run) {
        std::size_t parent = forkedFrom(runs, run);
        if (!groups.empty() && !groups[run].isEmpty() && (parent == kRoot || groups[parent] != groups[run])) {
            parent = m_runs + places.at(groups[run]);
        }
        m_parents[run] = parent;
        m_children[parent].push_back(run);
    }
    for (std::size_t group = m_runs; group < m_parents.size(); ++group) {
        m_children[kRoot].push_back(group);
    }
}

const std::vector<std::size_t>& RunTree::childrenOf(std::size_t node) const
{
    static const std::vector<std::size_t> kNone;
    const auto found = m_children.find(node);
    return found == m_children.end() ? kNone : found->second;
}

std::vector<std::size_t> RunTree::runsBelow(std::size_t node) const
{
    std::vector<std::size_t> runs;
    for (const std::size_t child : childrenOf(node)) {
        runs.push_back(child);
        const std::vector<std::size_t> further = runsBelow(child);
        runs.insert(runs.end(), further.begin(), further.end());
    }
    return runs;
}

std::size_t RunTree::groupOf(std::size_t run) const
{
    std::size_t node = m_parents[run];
    while (node != kRoot && !isGroup(node)) {
        node = m_parents[node];
    }
    return node;
}

QVariant RunsModel::groupData(const QModelIndex& index, int role) const
{
    const std::size_t group = index.internalId();
    if (index.column() != Name) {
        switch (role) {
        case Qt::DisplayRole:
        case kFilterRole:
            return groupText(m_tree.membersOf(group), index.column());
        case kSortRole:
            return groupSortValue(m_tree.membersOf(group), index.column());
        case Qt::TextAlignmentRole:
            return QVariant((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case Qt::FontRole:
            return isNumber(index.column()) ? QVariant(numberFont()) : QVariant();
        default:
            return {};
        }
    }
    const std::vector<std::size_t> runs = m_tree.runsBelow(group);
    switch (role) {
    case Qt::DisplayRole:
        return tr("%1 (%2)").arg(m_tree.titleOf(group), formatWhole(static_cast<qlonglong>(runs.size())));
    case Qt::ToolTipRole:
    case kSortRole:
    case kFilterRole:
        return m_tree.titleOf(group);
    case Qt::DecorationRole:
        return groupDecoration(m_tree.membersOf(group));
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
    std::map<QString, std::set<std::string>> seeds; // of each group
    for (std::size_t run = 0; run < titles.size() && m_grouping == QLatin1String(kGroupColumn); ++run) {
        const auto* const look = m_shown.lookOf(m_runs[run].directory);
        seeds[titles[run]].insert(look ? look->seeds : std::string());
    }
    for (QString& title : titles) { // runs that repeat no other with other seeds need no row for their group
        if (const auto own = seeds.find(title); own != seeds.end() && own->second.size() < 2) {
            title.clear();
        }
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
