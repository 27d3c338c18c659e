// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/canvas.h"

#include <QObject>

class QMenu;

namespace residua::app {

class CanvasWidget;
class DocumentViews;
class Workspace;

/// The menu of what lies under the pointer on a canvas: the window's commands that fit it, each with its key.
/// GUI thread.
class CanvasMenu : public QObject {
    Q_OBJECT
public:
    /// The commands are those of `window`, by name.
    CanvasMenu(const DocumentViews& documents, Workspace& workspace, QWidget& window);

private:
    void open(CanvasWidget& canvas, editor::ScreenPoint at);
    /// Adds these commands, and a line below them.
    void add(QMenu& menu, std::initializer_list<const char*> names) const;

    const DocumentViews& m_documents;
    QWidget& m_window;
};

} // namespace residua::app
