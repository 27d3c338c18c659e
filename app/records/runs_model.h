// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "resources/colours.h"

#include <QAbstractItemModel>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

/// The runs of a project, newest first, each below the run that it was forked from. The check box in the first column
/// overlays a run's curves, as in `shown`. Names, tags and notes are edited in place. The name of a sweep's member
/// cannot be edited, because the sweep finds the run by it.
class RunsModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Started, State, Progress, Loss, ValidationLoss, Device, Tags, Notes, ColumnCount };

    /// Follows `shown`, which must outlive the model.
    explicit RunsModel(visualizers::ShownRuns& shown, QObject* parent = nullptr);

    void setRuns(std::vector<engine::RunInfo> runs);
    /// Updates the row of a growing run, whose numbers are newer than its run.json. A loss of NaN means unknown and
    /// keeps the earlier one.
    void setLive(const std::string& directory, engine::RunStatus status, std::int64_t step, double loss);
    /// Sets the theme for the curves' colours beside the names.
    void setTheme(resources::Theme theme);
    [[nodiscard]] const std::vector<engine::RunInfo>& runs() const { return m_runs; }
    /// True if the runs used more than one device.
    [[nodiscard]] bool haveSeveralDevices() const;
    /// Returns the run's row; invalid for an unknown directory.
    [[nodiscard]] QModelIndex indexOf(const std::string& directory) const;
    /// Returns the run of a row, or null for an invalid index.
    [[nodiscard]] const engine::RunInfo* runAt(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    /// Emitted when runs() has changed, as a list or in its contents.
    void listed();
    void renamed(const std::string& directory, const std::string& name);
    void annotated(const std::string& directory, const std::vector<std::string>& tags, const std::string& notes);

private:
    [[nodiscard]] QString textOf(std::size_t run, int column) const;
    [[nodiscard]] QString nameOf(std::size_t run) const;

    /// The parent of top-level runs.
    static constexpr std::size_t kRoot = SIZE_MAX;
    [[nodiscard]] const std::vector<std::size_t>& childrenOf(std::size_t run) const;
    [[nodiscard]] QModelIndex indexOf(std::size_t run, int column) const;
    void arrange();
    void numberCopies();
    /// Notifies views that the run's check box and colour have changed.
    void announceShown(const std::string& directory);

    visualizers::ShownRuns& m_shown;
    resources::Theme m_theme = resources::Theme::Light;
    std::vector<engine::RunInfo> m_runs;
    std::vector<std::size_t> m_parents;                         ///< of each run: index in m_runs, or kRoot
    std::map<std::size_t, std::vector<std::size_t>> m_children; ///< in the order of m_runs
    std::vector<int> m_numbers; ///< number of each run among those with the same name, parent and step; the oldest is 1
};

} // namespace residua::app
