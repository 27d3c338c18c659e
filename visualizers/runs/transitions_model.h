// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/results/stages.h"

#include <QAbstractTableModel>

#include <vector>

namespace residua::visualizers {

/// The stage transitions as rows: step, stage, loss before, after, jump, and shares of FLOP and time.
class TransitionsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Changes unchanged rows in place, so that selection and scrolling survive while a run grows. The header names
    /// `run` unless that is empty.
    void setTransitions(std::vector<engine::StageTransition> transitions, const QString& run = {});

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<engine::StageTransition> m_transitions;
    QString m_run;
};

} // namespace residua::visualizers
