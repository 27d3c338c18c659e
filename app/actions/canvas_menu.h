// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <QObject>

class QMenu;

namespace residua::app {

class CanvasActions;
class CanvasWidget;
class DocumentViews;
class Workspace;
struct WindowActions;

/// The context menu of a canvas: the window's commands that apply to the thing under the pointer, each with its key.
/// GUI thread.
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
