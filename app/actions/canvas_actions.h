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

/// What is done to the things on a canvas or in the outline: the clipboard, adding by typing, laying out. Each is a
/// command with a name, so the command palette finds it and its keys can be changed. GUI thread.
class CanvasActions : public QObject {
    Q_OBJECT
public:
    /// Adds its commands to `edit`, to the canvases and, where they need none, to the outline.
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

    /// What is done to a selection, wherever it was made.
    [[nodiscard]] QList<QAction*> ofSelection() const { return {cut, copy, paste, duplicate, group, ungroup}; }
    /// What needs a canvas in front.
    [[nodiscard]] QList<QAction*> ofCanvas() const;

private:
    struct Words;
    QAction* add(QMenu& menu, const Words& words);
    void addAlignments(QMenu& menu);

    EditCommands& m_commands;
    QList<QAction*> m_all;
};

} // namespace residua::app
