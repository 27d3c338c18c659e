// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/canvas_menu.h"

#include "app/canvas/canvas_widget.h"
#include "app/window/document_views.h"
#include "app/window/workspace.h"

#include <QAction>
#include <QMenu>

namespace residua::app {

CanvasMenu::CanvasMenu(const DocumentViews& documents, Workspace& workspace, QWidget& window)
    : QObject(&window), m_documents(documents), m_window(window)
{
    for (CanvasWidget* canvas : workspace.canvases()) {
        connect(canvas, &CanvasWidget::requested, this, [this, canvas](const editor::Request& request) {
            if (const auto* menu = std::get_if<editor::OpenMenu>(&request)) {
                open(*canvas, menu->at);
            }
        });
    }
}

void CanvasMenu::add(QMenu& menu, std::initializer_list<const char*> names) const
{
    for (const char* name : names) {
        menu.addAction(m_window.findChild<QAction*>(QLatin1String(name)));
    }
    menu.addSeparator();
}

void CanvasMenu::open(CanvasWidget& canvas, editor::ScreenPoint at)
{
    auto* menu = new QMenu(&canvas);
    menu->setObjectName(QStringLiteral("canvasMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const projects::Selection& selection = m_documents.selection();
    if (!selection.shortcuts.empty()) {
        add(*menu, {"freeze", "prune"});
    }
    if (!selection.layers.empty()) {
        add(*menu, {"openBlock"});
        add(*menu, {"cut", "copy", "paste", "duplicate", "prune"});
        add(*menu, {"fold", "group", "ungroup"});
    }
    if (selection.shortcuts.empty() && selection.layers.empty()) {
        add(*menu, {"typeToAdd", "paste"});
        add(*menu, {"selectAll", "fold", "fit"});
    } else {
        add(*menu, {"zoomToSelection"});
    }
    add(*menu, {"explain"});
    menu->popup(canvas.surface()->mapToGlobal(QPointF(at.x, at.y).toPoint()));
}

} // namespace residua::app
