// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/transitions_model.h"

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

enum Column { Step, Stage, Before, After, Jump, Columns };

QString lossText(double loss)
{
    return std::isnan(loss) ? QStringLiteral("–") : QString::number(loss, 'f', 4);
}

} // namespace

void TransitionsModel::setTransitions(std::vector<engine::StageTransition> transitions)
{
    const int had = rowCount();
    const int have = static_cast<int>(transitions.size());
    if (have < had) {
        beginRemoveRows({}, have, had - 1);
        m_transitions.resize(transitions.size());
        endRemoveRows();
    }
    for (int row = 0; row < std::min(had, have); ++row) {
        engine::StageTransition& shown = m_transitions[static_cast<std::size_t>(row)];
        const engine::StageTransition& now = transitions[static_cast<std::size_t>(row)];
        if (shown != now) {
            shown = now;
            emit dataChanged(index(row, 0), index(row, Columns - 1));
        }
    }
    if (have > had) {
        beginInsertRows({}, had, have - 1);
        m_transitions = std::move(transitions);
        endInsertRows();
    }
}

int TransitionsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_transitions.size());
}

int TransitionsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : Columns;
}

QVariant TransitionsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue((index.column() == Stage ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    const engine::StageTransition& transition = m_transitions[static_cast<std::size_t>(index.row())];
    switch (index.column()) {
    case Step:
        return QString::number(transition.step);
    case Stage:
        return QString::fromStdString(transition.name);
    case Before:
        return lossText(transition.before);
    case After:
        return lossText(transition.after);
    default:
        return (transition.jump() > 0 ? QStringLiteral("+") : QString()) + lossText(transition.jump());
    }
}

QVariant TransitionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= Columns) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    const QString titles[] = {tr("step"), tr("stage"), tr("loss before"), tr("after"), tr("jump")};
    return titles[section];
}

} // namespace residua::visualizers
