// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/transitions_model.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr qsizetype kLongestName = 28; ///< letters of a run's name in the header

enum Column {
    Step,
    Stage,
    Steps,
    Before,
    After,
    Jump,
    ValidationBefore,
    ValidationAfter,
    Seconds,
    Flop,
    Time,
    Columns
};

QString text(double number, int digits = 4)
{
    return std::isnan(number) ? QStringLiteral("–") : QString::number(number, 'f', digits);
}

QString percent(double share)
{
    return std::isnan(share) ? text(share) : text(100 * share, 1) + QStringLiteral(" %");
}

/// Cuts the middle of a long name.
QString shortened(const QString& name)
{
    return name.size() <= kLongestName
               ? name
               : name.left(kLongestName / 2) + QStringLiteral("…") + name.right(kLongestName / 2);
}

/// NaN means that there is no value.
bool same(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool same(const engine::StageTransition& a, const engine::StageTransition& b)
{
    return a.step == b.step && a.name == b.name && a.note == b.note && a.steps == b.steps && same(a.before, b.before) &&
           same(a.after, b.after) && same(a.validationBefore, b.validationBefore) &&
           same(a.validationAfter, b.validationAfter) && same(a.secondsPerStep, b.secondsPerStep) &&
           same(a.shareOfFlop, b.shareOfFlop) && same(a.shareOfTime, b.shareOfTime);
}

} // namespace

void TransitionsModel::setTransitions(std::vector<engine::StageTransition> transitions, const QString& run)
{
    if (run != m_run) {
        m_run = run;
        emit headerDataChanged(Qt::Horizontal, Stage, Stage);
    }
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
        if (!same(shown, now)) {
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
    const engine::StageTransition& transition = m_transitions[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole && index.column() == Stage && !transition.note.empty()) {
        return QString::fromStdString(transition.name + ": " + transition.note);
    }
    if (role != Qt::DisplayRole) {
        return {};
    }
    switch (index.column()) {
    case Step:
        return QString::fromStdString(groupedText(transition.step));
    case Stage:
        return QString::fromStdString(transition.name);
    case Steps:
        return QString::fromStdString(groupedText(transition.steps));
    case Before:
        return text(transition.before);
    case After:
        return text(transition.after);
    case Jump:
        return (transition.jump() > 0 ? QStringLiteral("+") : QString()) + text(transition.jump());
    case ValidationBefore:
        return text(transition.validationBefore);
    case ValidationAfter:
        return text(transition.validationAfter);
    case Seconds:
        return text(transition.secondsPerStep, 3);
    case Flop:
        return percent(transition.shareOfFlop);
    default:
        return percent(transition.shareOfTime);
    }
}

/// Short titles, so that every column fits a panel of usual width. Tooltips explain them.
QVariant TransitionsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const bool asked = role == Qt::DisplayRole || role == Qt::ToolTipRole;
    if (orientation != Qt::Horizontal || !asked || section < 0 || section >= Columns) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    const QString stage = m_run.isEmpty() ? tr("stage") : tr("stage of %1").arg(shortened(m_run));
    const QString titles[] = {tr("at step"),
                              stage,
                              tr("steps"),
                              tr("loss before"),
                              tr("loss after"),
                              tr("jump"),
                              tr("validation before"),
                              tr("validation after"),
                              tr("s/step"),
                              tr("FLOP"),
                              tr("time")};
    const QString meanings[] = {tr("The last step before it"),
                                m_run.isEmpty() ? tr("What trains in it") : tr("What trains in it: %1").arg(m_run),
                                tr("Steps done in it"),
                                tr("Training loss before the transition"),
                                tr("Training loss after it, on the same batches"),
                                tr("By how much the training loss jumps"),
                                tr("Validation loss before the transition"),
                                tr("Validation loss after it, on the same batches"),
                                tr("Seconds a step"),
                                tr("Share of the run's FLOP so far"),
                                tr("Share of the run's time so far")};
    return role == Qt::DisplayRole ? titles[section] : meanings[section];
}

} // namespace residua::visualizers
