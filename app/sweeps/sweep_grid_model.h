// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/commands.h"
#include "engine/runs/results/sweep_members.h"
#include "projects/studies/sweep_grid.h"
#include "projects/studies/sweep_results.h"

#include <QAbstractTableModel>

#include <cstddef>
#include <vector>

namespace residua::app {

/// The members of a sweep's grid: their values, cost, time, progress and errors.
class SweepGridModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Shows the grid of `sweep`.
    void setMembers(std::vector<projects::SweepMember> members, projects::Sweep sweep);
    /// Sets the FLOP per second for the estimated time; 0: unknown.
    void setRate(double flopPerSecond);
    /// Sets the status of each member. Initially no member has begun.
    void setStatuses(std::vector<engine::MemberStatus> statuses);
    /// Sets the queued runs of the project. A member that is among them is not queued twice.
    void setQueued(std::vector<engine::StartRun> runs);
    [[nodiscard]] const std::vector<projects::SweepMember>& members() const { return m_members; }
    [[nodiscard]] const projects::Sweep& sweep() const { return m_sweep; }
    /// Returns the members' values, one per member.
    [[nodiscard]] std::vector<projects::SweepResult> results() const;
    /// Returns the metric that members are compared by.
    [[nodiscard]] projects::Judge judge() const;
    /// Returns the FLOP of all members of untrained().
    [[nodiscard]] double totalFlops() const;
    [[nodiscard]] double rate() const { return m_rate; }
    /// True if any member has something in the column.
    [[nodiscard]] bool isUsed(int column) const;
    /// Returns the members that can be trained.
    [[nodiscard]] std::vector<projects::SweepMember> trainable() const;
    /// Returns those of them that have not finished, are not being trained and are not queued.
    [[nodiscard]] std::vector<projects::SweepMember> untrained() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    enum Column { Parameters, Flop, Time, Loss, MeanLoss, State, Problem, FixedColumns }; ///< after the axes
    [[nodiscard]] QString textOf(std::size_t row, int column) const;
    [[nodiscard]] QString toolTipOf(std::size_t row) const;
    void sumUp();
    /// Finds the members among the queued runs.
    void markQueued();
    [[nodiscard]] bool isNumber(int column) const;
    [[nodiscard]] int axisCount() const { return static_cast<int>(m_sweep.axes.size()); }

    std::vector<projects::SweepMember> m_members;
    std::vector<engine::MemberStatus> m_statuses; ///< one per member
    std::vector<engine::StartRun> m_queuedRuns;
    std::vector<bool> m_queued; ///< one per member
    projects::Sweep m_sweep;
    std::vector<projects::MeanOfSeveral> m_overSeeds; ///< losses; one per member
    double m_rate = 0;
};

} // namespace residua::app
