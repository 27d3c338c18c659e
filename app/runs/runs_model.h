// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <QAbstractTableModel>

#include <set>
#include <string>
#include <vector>

namespace residua::app {

/// The runs of a project, newest first; the check in the first column lays a run's curves over the others.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, State, Progress, Loss, ValidationLoss, Device, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(std::vector<engine::RunInfo> runs);
    /// The row of a growing run: its numbers are ahead of its run.json.
    void setLive(const std::string& directory, engine::RunStatus status, std::int64_t step, double loss);
    void setOverlaid(const std::string& directory, bool overlaid);
    [[nodiscard]] bool isOverlaid(const std::string& directory) const { return m_overlaid.contains(directory); }
    [[nodiscard]] const std::vector<engine::RunInfo>& runs() const { return m_runs; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void overlayChanged(const residua::engine::RunInfo& run, bool overlaid);

private:
    [[nodiscard]] QString textOf(const engine::RunInfo& run, int column) const;

    std::vector<engine::RunInfo> m_runs;
    std::set<std::string> m_overlaid;
};

} // namespace residua::app
