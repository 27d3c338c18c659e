// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of RunsModel for the rows of groups, and for the differences from a baseline.
#include "app/look/theme.h"
#include "app/records/runs_model.h"
#include "engine/runs/results/run_reader.h"
#include "visualizers/plot/series.h"
#include "visualizers/runs/shown_runs.h"

#include <algorithm>
#include <cmath>

namespace residua::app {
namespace {

const QString kDifference = QStringLiteral("difference:"); ///< before the key of what the column is about
const QString kJudged = QStringLiteral("difference:judged");
const QString kLast = QStringLiteral("difference:last");

} // namespace

std::string RunsModel::groupAt(const QModelIndex& index) const
{
    if (!index.isValid() || !m_tree.isGroup(index.internalId()) || m_grouping != QLatin1String(kGroupColumn)) {
        return {};
    }
    return m_shown.groupOf(m_runs[m_tree.membersOf(index.internalId()).front()].directory);
}

QVariant RunsModel::groupDecoration(const std::vector<std::size_t>& members) const
{
    const bool isShown =
        std::ranges::any_of(members, [this](std::size_t run) { return m_shown.isOverlaid(m_runs[run].directory); });
    const auto* look = members.empty() ? nullptr : m_shown.lookOf(m_runs[members.front()].directory);
    return isShown && look && m_grouping == QLatin1String(kGroupColumn)
               ? QVariant(visualizers::curveSample(look->colour, m_theme))
               : QVariant();
}

/// Only finished runs have results.
projects::MeanOfSeveral RunsModel::meanOf(const std::vector<std::size_t>& members, int column) const
{
    std::vector<double> values;
    for (const std::size_t run : members) {
        const QVariant value = sortValueOf(run, column);
        if (m_runs[run].status == engine::RunStatus::Finished && value.typeId() == QMetaType::Double) {
            values.push_back(value.toDouble());
        }
    }
    return projects::meanOf(values);
}

QString RunsModel::groupText(const std::vector<std::size_t>& members, int column) const
{
    if (isDifference(column)) {
        return QString::fromStdString(projects::textOf(differenceOf(members, column)))
            .replace(QLatin1Char('-'), QChar(0x2212));
    }
    if (column == State) {
        const auto finished = std::ranges::count_if(
            members, [this](std::size_t run) { return m_runs[run].status == engine::RunStatus::Finished; });
        return finished == std::ranges::ssize(members) ? textOf(members.front(), State)
                                                       : tr("%1 of %2 finished").arg(finished).arg(members.size());
    }
    if (const projects::MeanOfSeveral mean = meanOf(members, column); mean.count > 1) {
        return QString::fromStdString(projects::textOf(mean));
    }
    const QString first = members.empty() ? QString() : textOf(members.front(), column);
    const bool agree = column != Started &&
                       std::ranges::all_of(members, [&](std::size_t run) { return textOf(run, column) == first; });
    return agree ? first : QString();
}

QVariant RunsModel::groupSortValue(const std::vector<std::size_t>& members, int column) const
{
    const bool isBelow = isDifference(column);
    if (const double mean = isBelow ? differenceOf(members, column).mean : meanOf(members, column).mean;
        std::isfinite(mean)) {
        return mean;
    }
    return isBelow || members.empty() ? QVariant() : sortValueOf(members.front(), column);
}

bool RunsModel::isDifference(int column) const
{
    return column >= ColumnCount && m_extra[static_cast<std::size_t>(column - ColumnCount)].key.startsWith(kDifference);
}

std::optional<double> RunsModel::comparedValue(std::size_t run, const QString& key) const
{
    const std::optional<double> judged = engine::finalValue(m_runs[run]);
    if (key == kJudged || !judged) {
        return judged;
    }
    const auto costs = m_offered.find(ColumnSource::Costs);
    if (costs == m_offered.end()) {
        return std::nullopt;
    }
    const auto last = std::ranges::find(costs->second, QLatin1String(kLastLossColumn), &RunColumn::key);
    const QVariant value = last != costs->second.end() ? last->of(m_runs[run]) : QVariant();
    return value.isValid() ? std::optional(value.toDouble()) : std::nullopt;
}

projects::PairedDifference RunsModel::differenceOf(const std::vector<std::size_t>& runs, int column) const
{
    const QString& key = m_extra[static_cast<std::size_t>(column - ColumnCount)].key;
    std::vector<projects::SeededValue> own;
    std::vector<projects::SeededValue> base;
    const auto add = [&](std::vector<projects::SeededValue>& values, std::size_t run) {
        const auto* look = m_shown.lookOf(m_runs[run].directory);
        if (const auto value = comparedValue(run, key); value && look) {
            values.push_back({look->seeds, *value});
        }
    };
    for (std::size_t run = 0; run < m_runs.size(); ++run) {
        if (m_shown.isOfBaseline(m_runs[run].directory)) {
            add(base, run);
        }
    }
    for (const std::size_t run : runs) {
        add(own, run);
    }
    return projects::differenceOf(own, base);
}

std::vector<RunColumn> RunsModel::differenceColumns() const
{
    const QString baseline = m_shown.baselineLabel();
    if (baseline.isEmpty() || m_runs.empty()) {
        return {};
    }
    const std::string_view quantity = m_runs.front().judge().quantity;
    const QString judged = QString::fromUtf8(quantity.data(), static_cast<qsizetype>(quantity.size()));
    return {{kJudged, tr("%1 − %2").arg(judged, baseline), {}}, {kLast, tr("last steps − %1").arg(baseline), {}}};
}

} // namespace residua::app
