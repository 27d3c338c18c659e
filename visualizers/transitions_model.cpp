// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/transitions_model.h"

#include <cmath>

namespace residua::visualizers {
namespace {

enum Column { Step, Stage, Before, After, Jump, Columns };

QString lossText(double loss)
{
    return std::isnan(loss) ? QStringLiteral("–") : QString::number(loss, 'f', 4);
}

} // namespace

void TransitionsModel::setTransitions(std::vector<StageTransition> transitions)
{
    beginResetModel();
    m_transitions = std::move(transitions);
    endResetModel();
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
    const StageTransition& transition = m_transitions[static_cast<std::size_t>(index.row())];
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
