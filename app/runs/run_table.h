// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>
#include <QTreeView>

#include <optional>
#include <string>

class QMenu;

namespace residua::app {

class RunsModel;

/// The tree of runs. A click on a selected row edits its tags and notes, but not its name, because a click on a name
/// selects the run. Space ticks the run, whichever of its columns was clicked.
class RunsTree : public QTreeView {
    Q_OBJECT
public:
    using QTreeView::edit;
    using QTreeView::QTreeView;

    bool edit(const QModelIndex& index, EditTrigger trigger, QEvent* event) override;

protected:
    void keyPressEvent(QKeyEvent* event) override;
};

/// The columns of the list of runs and the one that groups the runs, chosen in the menu of its header. A click on a
/// heading sorts by the column, a third click ends that. GUI thread.
class RunTable : public QObject {
    Q_OBJECT
public:
    /// `tree` shows `model` through a proxy. Both outlive it. Names have the room that they need and that the other
    /// columns leave, until the user drags their column.
    RunTable(RunsModel& model, QTreeView& tree);

    /// The model's hidden columns, the grouping, and the chosen columns, as the user's settings keep them.
    [[nodiscard]] QStringList choice() const;
    void choose(const QStringList& choice);

signals:
    void chosen();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void openMenu(const QPoint& position);
    void keepTyping();
    void typeOn();
    void hideColumns();
    void placeDifferences();
    void fitNames();
    void addGroupings(QMenu& menu);
    void toggleOwn(int column);
    void toggleOffered(const QString& key);

    RunsModel& m_model;
    QTreeView& m_tree;
    /// A name, tags or notes while they are typed.
    struct Typing {
        std::string directory;
        int column = 0;
        QString text;
    };

    std::optional<Typing> m_typing; ///< set while the model is reset
    QStringList m_hidden;           ///< keys of the model's own columns
    bool m_fitting = false;
    bool m_dragged = false; ///< true once the user has given names a width
};

} // namespace residua::app
