// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/canvas_menu.h"

#include "app/actions/canvas_actions.h"
#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/views/document_views.h"
#include "app/workspace/workspace.h"

#include <QAction>
#include <QMenu>

namespace residua::app {

namespace {

/// Adds these commands and a separator.
void add(QMenu& menu, const QList<QAction*>& actions)
{
    menu.addActions(actions);
    menu.addSeparator();
}

} // namespace

CanvasMenu::CanvasMenu(const DocumentViews& documents, Workspace& workspace, const WindowActions& window,
                       const CanvasActions& canvas, QObject* parent)
    : QObject(parent), m_documents(documents), m_workspace(workspace), m_window(window), m_canvas(canvas)
{
    for (CanvasWidget* each : workspace.canvases()) {
        connect(each, &CanvasWidget::requested, this, [this, each](const editor::Request& request) {
            if (const auto* menu = std::get_if<editor::OpenMenu>(&request)) {
                open(*each, menu->at);
            }
        });
    }
}

void CanvasMenu::fill(QMenu& menu) const
{
    const projects::Selection& selection = m_documents.selection();
    if (!selection.shortcuts.empty()) {
        add(menu, {m_window.freeze, m_window.prune});
    }
    if (!selection.layers.empty()) {
        add(menu, {m_canvas.openBlock});
        add(menu, {m_canvas.cut, m_canvas.copy, m_canvas.paste, m_canvas.duplicate, m_window.prune});
        add(menu, {m_canvas.fold, m_canvas.group, m_canvas.ungroup});
    }
    if (selection.shortcuts.empty() && selection.layers.empty()) {
        add(menu, {m_canvas.typeToAdd, m_canvas.paste});
        add(menu, {m_window.selectAll, m_canvas.fold, m_window.fit});
    } else {
        add(menu, {m_window.zoomToSelection});
    }
}

void CanvasMenu::fillForBlock(QMenu& menu) const
{
    const projects::Selection& selection = m_documents.selection();
    if (!selection.nodes.empty()) {
        add(menu, {m_canvas.cut, m_canvas.copy, m_canvas.paste, m_canvas.duplicate, m_window.prune});
        add(menu, {m_canvas.alignments->menuAction(), m_canvas.tidy, m_window.zoomToSelection});
    } else if (!selection.wires.empty()) {
        add(menu, {m_window.prune});
    } else {
        add(menu, {m_canvas.typeToAdd, m_canvas.paste});
        add(menu, {m_window.selectAll, m_canvas.tidy, m_window.fit});
    }
}

void CanvasMenu::open(CanvasWidget& canvas, editor::ScreenPoint at)
{
    auto* menu = new QMenu(&canvas);
    menu->setObjectName(QStringLiteral("canvasMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (&canvas == &m_workspace.block()) {
        fillForBlock(*menu);
    } else {
        fill(*menu);
    }
    menu->addAction(m_window.explain);
    menu->popup(canvas.surface()->mapToGlobal(QPointF(at.x, at.y).toPoint()));
}

} // namespace residua::app
