// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>

class QAction;
class QMenu;
class QWidget;

namespace residua::app {

class EditCommands;
class Workspace;

/// The commands on the contents of a canvas or the outline: the clipboard, adding by typing, layout. Each command has a
/// name, so that the command palette finds it and its keys can be changed. GUI thread.
class CanvasActions : public QObject {
    Q_OBJECT
public:
    /// Adds the commands to `edit`, to the canvases and, if they do not need one, to the outline.
    CanvasActions(QWidget& window, QMenu& edit, EditCommands& commands, Workspace& workspace);

    QAction* cut;
    QAction* copy;
    QAction* paste;
    QAction* duplicate;
    QAction* openBlock;
    QAction* typeToAdd;
    QAction* fold;
    QAction* group;
    QAction* ungroup;
    QAction* tidy;
    QMenu* alignments;

    /// Returns the commands on a selection, wherever it was made.
    [[nodiscard]] QList<QAction*> ofSelection() const { return {cut, copy, paste, duplicate, group, ungroup}; }
    /// Returns the commands that need a canvas in front.
    [[nodiscard]] QList<QAction*> ofCanvas() const;

private:
    struct Words;
    QAction* add(QMenu& menu, const Words& words);
    void addAlignments(QMenu& menu);

    EditCommands& m_commands;
    QList<QAction*> m_all;
};

} // namespace residua::app
