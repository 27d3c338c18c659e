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

/// What is done to the things on a canvas, whichever is in front: the clipboard, adding by typing, laying out. Each is
/// a command with a name, so the command palette finds it and its keys can be changed. GUI thread.
class CanvasActions : public QObject {
    Q_OBJECT
public:
    /// Adds its commands to `edit`.
    CanvasActions(QWidget& window, QMenu& edit, EditCommands& commands, Workspace& workspace);

    void setEnabled(bool enabled);

private:
    struct Words;
    QAction* add(QMenu& menu, const Words& words);
    void addAlignments(QMenu& menu);

    EditCommands& m_commands;
    QList<QAction*> m_actions;
};

} // namespace residua::app
