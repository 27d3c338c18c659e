// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

class QMenu;
class QTreeView;

namespace residua::app {

class RunsModel;

/// The columns of the list of runs and the one that groups the runs, chosen in the menu of its header. A click on a
/// heading sorts by the column, a third click ends that. GUI thread.
class RunTable : public QObject {
    Q_OBJECT
public:
    /// `tree` shows `model` through a proxy. Both outlive it.
    RunTable(RunsModel& model, QTreeView& tree);

    /// The model's own columns that are hidden, the grouping, and then the chosen columns, as the user's settings keep
    /// them.
    [[nodiscard]] QStringList choice() const;
    void choose(const QStringList& choice);

signals:
    void chosen();

private:
    void openMenu(const QPoint& position);
    void hideColumns();
    void addGroupings(QMenu& menu);
    void toggleOwn(int column);
    void toggleOffered(const QString& key);

    RunsModel& m_model;
    QTreeView& m_tree;
    QStringList m_hidden; ///< keys of the model's own columns
};

} // namespace residua::app
