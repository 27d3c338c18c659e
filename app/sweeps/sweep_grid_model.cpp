// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_grid_model.h"

#include "app/look/format.h"
#include "app/look/theme.h"
#include "projects/base/ranges.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace residua::app {

namespace {

const QString kNone = QStringLiteral("—"); ///< in a cell of a number that is not known

} // namespace

void SweepGridModel::setMembers(std::vector<projects::SweepMember> members, projects::Sweep sweep)
{
    beginResetModel();
    m_members = std::move(members);
    m_statuses.assign(m_members.size(), engine::member::Pending{});
    m_sweep = std::move(sweep);
    markQueued();
    sumUp();
    endResetModel();
}

void SweepGridModel::markQueued()
{
    m_queued.clear();
    for (const projects::SweepMember& member : m_members) {
        m_queued.push_back(std::ranges::any_of(m_queuedRuns, [&](const engine::StartRun& run) {
            return run.membership == member.membership && run.project == member.project;
        }));
    }
}

void SweepGridModel::setQueued(std::vector<engine::StartRun> runs)
{
    m_queuedRuns = std::move(runs);
    markQueued();
    if (!m_members.empty()) {
        const int column = axisCount() + State;
        emit dataChanged(index(0, column), index(rowCount() - 1, column));
    }
}

bool SweepGridModel::isUsed(int column) const
{
    for (std::size_t row = 0; row < m_members.size(); ++row) {
        if (const QString text = textOf(row, column); !text.isEmpty() && text != kNone) {
            return true;
        }
    }
    return false;
}

std::vector<projects::SweepResult> SweepGridModel::results() const
{
    std::vector<projects::SweepResult> results;
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        results.push_back({m_members[i].values, engine::finalValue(m_statuses[i])});
    }
    return results;
}

projects::Judge SweepGridModel::judge() const
{
    return m_members.empty() ? projects::Judge() : projects::judgeOfRuns(m_members.front().project);
}

void SweepGridModel::sumUp()
{
    m_overSeeds = projects::meansOverSeeds(projects::rolesOf(m_sweep), results());
}

void SweepGridModel::setRate(double flopPerSecond)
{
    m_rate = flopPerSecond;
    if (!m_members.empty()) {
        const int column = axisCount() + Time;
        emit dataChanged(index(0, column), index(rowCount() - 1, column));
    }
}

void SweepGridModel::setStatuses(std::vector<engine::MemberStatus> statuses)
{
    if (statuses.size() == m_members.size() && !m_members.empty()) {
        m_statuses = std::move(statuses);
        sumUp();
        emit dataChanged(index(0, axisCount() + Loss), index(rowCount() - 1, axisCount() + State));
    }
}

double SweepGridModel::totalFlops() const
{
    return sumOf(untrained(), &projects::SweepMember::trainFlops);
}

std::vector<projects::SweepMember> SweepGridModel::untrained() const
{
    std::vector<projects::SweepMember> members;
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        const bool isDone = m_queued[i] || std::holds_alternative<engine::member::Finished>(m_statuses[i]) ||
                            std::holds_alternative<engine::member::Training>(m_statuses[i]);
        if (!m_members[i].error && !isDone) {
            members.push_back(m_members[i]);
        }
    }
    return members;
}

std::vector<projects::SweepMember> SweepGridModel::trainable() const
{
    std::vector<projects::SweepMember> members;
    std::ranges::copy_if(m_members, std::back_inserter(members),
                         [](const projects::SweepMember& member) { return !member.error; });
    return members;
}

int SweepGridModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_members.size());
}

int SweepGridModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : axisCount() + FixedColumns;
}

bool SweepGridModel::isNumber(int column) const
{
    return column >= axisCount() + Parameters && column <= axisCount() + MeanLoss;
}

QString SweepGridModel::textOf(std::size_t row, int column) const
{
    const projects::SweepMember& member = m_members[row];
    if (column < axisCount()) {
        return QString::fromStdString(member.values[static_cast<std::size_t>(column)]);
    }
    const bool known = member.cost.parameters > 0;
    switch (column - axisCount()) {
    case Parameters:
        return known ? formatCount(static_cast<double>(member.cost.parameters)) : kNone;
    case Flop:
        return known ? formatCount(member.trainFlops) : kNone;
    case Time:
        return known && m_rate > 0 ? formatDuration(member.trainFlops / m_rate) : kNone;
    case Loss: {
        const std::optional<double> loss = engine::finalValue(m_statuses[row]);
        return loss ? QString::number(*loss, 'g', 5) : kNone;
    }
    case MeanLoss:
        return m_overSeeds[row].count > 1 ? QString::fromStdString(projects::textOf(m_overSeeds[row])) : kNone;
    case State: {
        const auto* const cutOff = std::get_if<engine::member::CutOff>(&m_statuses[row]);
        return m_queued[row] && std::holds_alternative<engine::member::Pending>(m_statuses[row]) ? tr("queued")
               : cutOff != nullptr ? tr("cut off at %1").arg(formatWhole(cutOff->step))
                                   : QString::fromStdString(engine::textOf(m_statuses[row]));
    }
    case Problem:
        return member.error ? QString::fromStdString(member.error->message) : QString();
    default:
        return {};
    }
}

QString SweepGridModel::toolTipOf(std::size_t row) const
{
    const projects::SweepMember& member = m_members[row];
    const std::string state = engine::describe(m_statuses[row]);
    return QString::fromStdString(member.error ? member.error->text() : member.label + ": " + state);
}

QVariant SweepGridModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const auto row = static_cast<std::size_t>(index.row());
    const bool number = isNumber(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return textOf(row, index.column());
    case Qt::ToolTipRole:
        return toolTipOf(row);
    case Qt::TextAlignmentRole:
        return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::FontRole:
        return number ? QVariant(numberFont()) : QVariant();
    default:
        return {};
    }
}

QVariant SweepGridModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    if (section < axisCount()) {
        return QString::fromStdString(labelOf(m_sweep.axes[static_cast<std::size_t>(section)]));
    }
    const QString titles[] = {tr("Parameters"), tr("FLOP"),   tr("Time"),   tr("Loss"),
                              tr("Over seeds"), tr("Status"), tr("Problem")};
    return section - axisCount() < FixedColumns ? titles[section - axisCount()] : QVariant();
}

} // namespace residua::app
