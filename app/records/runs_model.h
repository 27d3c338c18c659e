// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/records/run_columns.h"
#include "engine/base/api/values.h"
#include "projects/studies/paired_difference.h"
#include "resources/colours.h"

#include <QAbstractItemModel>
#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::visualizers {
class ShownRuns;
} // namespace residua::visualizers

namespace residua::app {

/// The list of runs as a tree: each run below the run that it was forked from, or below its group. Nodes are numbered:
/// first the runs, as in the list, then the groups.
class RunTree {
public:
    /// The parent of top-level nodes.
    static constexpr std::size_t kRoot = SIZE_MAX;

    RunTree() = default;
    /// `groups` has the title of each run's group; empty: the runs are not grouped. A fork of a run of another group is
    /// directly below its own group. A run with an empty title is in no group.
    RunTree(const std::vector<engine::RunInfo>& runs, const std::vector<QString>& groups);

    /// Returns the number of runs and groups.
    [[nodiscard]] std::size_t nodes() const { return m_parents.size(); }
    [[nodiscard]] std::size_t parentOf(std::size_t node) const { return m_parents[node]; }
    /// Returns the nodes below `node`, or the top-level nodes for kRoot. Groups are in the order of their first runs.
    [[nodiscard]] const std::vector<std::size_t>& childrenOf(std::size_t node) const;
    [[nodiscard]] bool isGroup(std::size_t node) const { return node >= m_runs; }
    [[nodiscard]] const QString& titleOf(std::size_t group) const { return m_titles[group - m_runs]; }
    /// Returns the runs of a group, without the forks of other groups below them.
    [[nodiscard]] const std::vector<std::size_t>& membersOf(std::size_t group) const
    {
        return m_members[group - m_runs];
    }
    /// Returns all runs below a node.
    [[nodiscard]] std::vector<std::size_t> runsBelow(std::size_t node) const;
    /// Returns the group of a run, or kRoot.
    [[nodiscard]] std::size_t groupOf(std::size_t run) const;

private:
    std::size_t m_runs = 0;
    std::vector<QString> m_titles;                   ///< of the groups
    std::vector<std::vector<std::size_t>> m_members; ///< of the groups
    std::vector<std::size_t> m_parents;
    std::map<std::size_t, std::vector<std::size_t>> m_children;
};

/// Who offers columns to the list of runs.
enum class ColumnSource { Fields, Costs, Metrics };

/// The runs of a project, newest first, each below the run that it was forked from, and these in groups if the user
/// groups them. The check in the first column lays a run's curves over the others, as `shown` has them; that of a group
/// does so for all of its runs. The row of a group has the mean, deviation and number of what its finished runs
/// reached; with a baseline, columns have the differences from it. Names, tags and notes are edited in place; the name
/// of a sweep's member stays, because the sweep finds it by that.
class RunsModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Started, State, Progress, Loss, ValidationLoss, Device, Tags, Notes, ColumnCount };
    /// What rows are sorted by: numbers as numbers.
    static constexpr int kSortRole = Qt::UserRole;
    /// The text that the filter searches: the text of a cell, without the number of a group's runs.
    static constexpr int kFilterRole = Qt::UserRole + 1;
    /// Returns a value of a column as it is shown; "—" if it is invalid.
    [[nodiscard]] static QString textOf(const QVariant& value);

    /// Returns the key of an own column in the user's settings.
    [[nodiscard]] static QString keyOf(int column);

    /// Follows `shown`, which must outlive the model.
    explicit RunsModel(visualizers::ShownRuns& shown, QObject* parent = nullptr);

    void setRuns(std::vector<engine::RunInfo> runs);
    /// Offers these columns in place of the source's former ones. Chosen ones follow the model's own.
    void setColumns(ColumnSource source, std::vector<RunColumn> columns);
    [[nodiscard]] std::vector<RunColumn> offeredColumns() const;
    /// Shows the offered columns of these keys, in this order. A key that is not offered now is kept.
    void chooseColumns(const QStringList& keys);
    [[nodiscard]] const QStringList& chosenColumns() const { return m_chosenColumns; }
    /// Returns the columns that runs can be grouped by: some of the model's own, and the offered fields.
    [[nodiscard]] std::vector<RunColumn> groupings() const;
    /// Groups the runs by one of these columns; an empty key: no groups. A key that is not offered now is kept. At
    /// first runs that repeat a configuration are groups (kGroupColumn).
    void groupBy(const QString& key);
    [[nodiscard]] const QString& grouping() const { return m_grouping; }
    [[nodiscard]] visualizers::ShownRuns& shown() const { return m_shown; }
    /// True for a column of differences from the baseline. They are behind all others.
    [[nodiscard]] bool isDifference(int column) const;
    /// Returns the group of a row, by its key, if it is that of one configuration; else an empty text.
    [[nodiscard]] std::string groupAt(const QModelIndex& index) const;
    /// The row of a growing run: its numbers are ahead of its run.json. A loss of NaN (unknown) keeps the earlier one.
    void setLive(const std::string& directory, engine::RunStatus status, std::int64_t step, double loss);
    /// Sets the theme for the curves' colours beside the names.
    void setTheme(resources::Theme theme);
    [[nodiscard]] const std::vector<engine::RunInfo>& runs() const { return m_runs; }
    /// True if the runs used more than one device.
    [[nodiscard]] bool haveSeveralDevices() const;
    /// Returns the run's row; invalid for an unknown directory.
    [[nodiscard]] QModelIndex indexOf(const std::string& directory) const;
    /// Returns the run of a row, or null for a group or an invalid index.
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
    /// offeredColumns() has changed.
    void columnsOffered();

private:
    void placeColumns();
    /// What the run has in a column of setColumns(); invalid if nothing.
    [[nodiscard]] QVariant extraOf(std::size_t run, int column) const;
    [[nodiscard]] QVariant sortValueOf(std::size_t run, int column) const;
    [[nodiscard]] QString textOf(std::size_t run, int column) const;
    [[nodiscard]] bool isNumber(int column) const;
    [[nodiscard]] QString nameOf(std::size_t run) const;

    [[nodiscard]] QModelIndex indexOf(std::size_t node, int column) const;
    [[nodiscard]] QVariant groupData(const QModelIndex& index, int role) const;
    [[nodiscard]] QVariant groupDecoration(const std::vector<std::size_t>& members) const;
    [[nodiscard]] QString groupText(const std::vector<std::size_t>& members, int column) const;
    [[nodiscard]] QVariant groupSortValue(const std::vector<std::size_t>& members, int column) const;
    [[nodiscard]] projects::MeanOfSeveral meanOf(const std::vector<std::size_t>& members, int column) const;
    [[nodiscard]] projects::PairedDifference differenceOf(const std::vector<std::size_t>& runs, int column) const;
    /// Returns the value of a finished run that a column of differences is about.
    [[nodiscard]] std::optional<double> comparedValue(std::size_t run, const QString& key) const;
    /// Returns the columns of differences from the baseline; empty without one.
    [[nodiscard]] std::vector<RunColumn> differenceColumns() const;
    /// Returns the title of each run's group; empty if the runs are not grouped.
    [[nodiscard]] std::vector<QString> groupTitles() const;
    /// Arranges the runs anew if one of them is in another group now.
    void regroup();
    void numberCopies();
    /// Notifies views that the run's check box and colour have changed.
    void announceShown(const std::string& directory);

    visualizers::ShownRuns& m_shown;
    resources::Theme m_theme = resources::Theme::Light;
    std::vector<engine::RunInfo> m_runs;
    RunTree m_tree;
    QString m_grouping = QString::fromLatin1(kGroupColumn); ///< a column's key
    std::vector<QString> m_groupTitles;                     ///< of each run, as arranged
    std::map<ColumnSource, std::vector<RunColumn>> m_offered;
    QStringList m_chosenColumns;
    std::vector<RunColumn> m_extra; ///< that are chosen and offered
    std::vector<int> m_numbers;     ///< of each run among those of its name, parent and step; the oldest is 1
};

} // namespace residua::app
