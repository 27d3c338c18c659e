// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <QList>
#include <QObject>

class QAction;
class QMenu;
class QWidget;

namespace residua::app {

class CanvasWidget;
class DocumentViews;
class EditCommands;
class Workspace;
struct WindowActions;

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
    QAction* visits;
    QAction* visitOnce;
    QAction* visitMore;
    QAction* visitLess;
    QAction* untie;
    QAction* tidy;
    QMenu* alignments;

    /// Returns the commands on a selection, wherever it was made.
    [[nodiscard]] QList<QAction*> ofSelection() const
    {
        return {cut, copy, paste, duplicate, group, ungroup, visits, visitOnce, visitMore, visitLess, untie};
    }
    /// Returns the commands that need a canvas in front.
    [[nodiscard]] QList<QAction*> ofCanvas() const;

private:
    struct Words;
    QAction* add(QMenu& menu, const Words& words);
    void addAlignments(QMenu& menu);

    EditCommands& m_commands;
    QList<QAction*> m_all;
};

/// The context menu of a canvas: the window's commands for the thing under the pointer, with their keys. GUI thread.
class CanvasMenu : public QObject {
    Q_OBJECT
public:
    CanvasMenu(const DocumentViews& documents, Workspace& workspace, const WindowActions& window,
               const CanvasActions& canvas, QObject* parent);

private:
    void open(CanvasWidget& canvas, editor::ScreenPoint at);
    void fill(QMenu& menu) const;
    void fillForBlock(QMenu& menu) const;

    const DocumentViews& m_documents;
    Workspace& m_workspace;
    const WindowActions& m_window;
    const CanvasActions& m_canvas;
};

} // namespace residua::app
