// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/edit_commands.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/outline/outline_view.h"
#include "app/window/document_views.h"
#include "app/window/workspace.h"
#include "editor/block/block_canvas.h"
#include "projects/commands/graph_commands.h"
#include "projects/commands/typing.h"

#include <QClipboard>
#include <QGuiApplication>

#include <map>

namespace residua::app {

EditCommands::EditCommands(DocumentSession& session, Workspace& workspace, DocumentViews& documents, QObject* parent)
    : QObject(parent), m_session(session), m_workspace(workspace), m_documents(documents)
{
    connect(&workspace.view<OutlineView>(), &OutlineView::deleteRequested, this, &EditCommands::deletePlace);
    for (CanvasWidget* canvas : workspace.canvases()) {
        connect(canvas, &CanvasWidget::requested, this, [this, canvas](const editor::Request& request) {
            if (const auto* asked = std::get_if<editor::AskTyping>(&request)) {
                ask(*canvas, *asked);
            }
        });
        connect(canvas, &CanvasWidget::typed, this,
                [this](const projects::DocumentChange& change) { perform(change); });
    }
}

CanvasWidget& EditCommands::front()
{
    CanvasWidget& canvas = m_workspace.currentCanvas();
    canvas.passOn();
    return canvas;
}

bool EditCommands::isBlock(const CanvasWidget& canvas) const
{
    return &canvas == &m_workspace.block();
}

projects::Selection EditCommands::selectionIn(const CanvasWidget& canvas) const
{
    return isBlock(canvas) ? partOfGraph(m_documents.selection(), m_workspace.blockCanvas().graph())
                           : partOfStack(m_documents.selection());
}

projects::GraphView EditCommands::viewFor(const projects::Selection& selection) const
{
    const bool seen = !selection.graph.empty() && selection.graph == m_workspace.blockCanvas().graph();
    return seen ? m_workspace.blockCanvas().view() : projects::GraphView{selection.graph, {}, {}};
}

void EditCommands::perform(const Result<projects::DocumentChange>& change)
{
    if (change) {
        m_documents.perform(*change);
    } else {
        emit noted(QString::fromStdString(change.error().message));
    }
}

void EditCommands::deleteSelection()
{
    const CanvasWidget& canvas = front();
    const projects::Selection selection = selectionIn(canvas);
    perform(&canvas == &m_workspace.matrix()
                ? pruneShortcuts(m_session.document(), selection)
                : projects::deleteSelection(m_session.document(), selection, viewFor(selection)));
}

void EditCommands::deletePlace(const Place& place)
{
    m_documents.choose(place);
    const projects::Selection& selection = m_documents.selection();
    perform(projects::deleteSelection(m_session.document(), selection, viewFor(selection)));
}

void EditCommands::toggleFrozen()
{
    perform(projects::toggleFrozen(m_session.document(), selectionIn(front())));
}

void EditCommands::selectAll()
{
    const CanvasWidget& canvas = front();
    const projects::Project& project = m_session.project();
    m_documents.select(isBlock(canvas)                    ? everyNode(project, m_workspace.blockCanvas().graph())
                       : &canvas == &m_workspace.matrix() ? everyShortcut(project)
                                                          : wholeStack(project));
}

void EditCommands::giveUp()
{
    CanvasWidget& canvas = front();
    if (canvas.canvas().giveUp()) {
        canvas.refresh();
    } else if (isBlock(canvas) && selectionIn(canvas).empty()) {
        m_workspace.showCanvas(WorkspaceView::Depth);
    } else {
        m_documents.select({.graph = isBlock(canvas) ? m_workspace.blockCanvas().graph() : projects::GraphRef{}});
    }
}

void EditCommands::copy()
{
    const projects::Selection selection = selectionIn(front());
    if (const std::string text = copied(m_session.document(), selection, viewFor(selection)); !text.empty()) {
        QGuiApplication::clipboard()->setText(QString::fromStdString(text));
    }
}

void EditCommands::cut()
{
    copy();
    deleteSelection();
}

void EditCommands::paste()
{
    const projects::Selection selection = selectionIn(front());
    const auto pasted = projects::paste(m_session.document(), selection,
                                        QGuiApplication::clipboard()->text().toStdString(), viewFor(selection));
    if (pasted) {
        m_documents.perform(*pasted);
    } else {
        emit refused(QString::fromStdString(pasted.error().text()));
    }
}

void EditCommands::duplicate()
{
    const projects::Selection selection = selectionIn(front());
    perform(duplicateSelection(m_session.document(), selection, viewFor(selection)));
}

void EditCommands::toggleFold()
{
    if (&front() == &m_workspace.canvas()) {
        m_documents.fold(toggled(m_session.project().network, m_documents.folds(), m_documents.selection().layers));
    }
}

void EditCommands::group()
{
    if (CanvasWidget& canvas = front(); &canvas == &m_workspace.canvas()) {
        editor::AskTyping asked = canvas.canvas().typingPlace();
        asked.text = "group ";
        ask(canvas, asked);
    }
}

void EditCommands::ungroup()
{
    if (const CanvasWidget& canvas = front(); &canvas == &m_workspace.canvas()) {
        perform(ungroupLayers(m_session.document(), selectionIn(canvas)));
    }
}

void EditCommands::typeToAdd()
{
    CanvasWidget& canvas = front();
    ask(canvas, canvas.canvas().typingPlace());
}

void EditCommands::ask(CanvasWidget& canvas, const editor::AskTyping& asked)
{
    if (asked.node) {
        canvas.askForText(asked, [this, spot = *asked.node](std::string_view text) {
            return typedNode(m_session.document(), text, spot, m_workspace.blockCanvas().view());
        });
    } else {
        canvas.askForText(asked, [this](std::string_view text) {
            return typed(m_session.document(), partOfStack(m_documents.selection()), text);
        });
    }
}

void EditCommands::align(projects::Alignment alignment)
{
    const projects::GraphView view = m_workspace.blockCanvas().view();
    perform(alignNodes(m_session.document(), partOfGraph(m_documents.selection(), view.graph), alignment, view));
}

void EditCommands::tidy()
{
    const CanvasWidget& canvas = front();
    if (!isBlock(canvas)) {
        return;
    }
    std::map<projects::NodeId, projects::Position> places;
    for (const auto& [id, at] : m_workspace.blockCanvas().scene().tidied()) {
        places.emplace(id, editor::positionOf(at));
    }
    perform(tidyNodes(m_session.document(), places, m_workspace.blockCanvas().view()));
    m_workspace.block().fit();
}

void EditCommands::addNode(const std::string& kind, std::optional<QPoint> at)
{
    const editor::BlockCanvas& block = m_workspace.blockCanvas();
    const projects::GraphView view = block.view();
    const projects::Position centre =
        at ? block.positionAt({static_cast<float>(at->x()), static_cast<float>(at->y())}) : view.inSight->centre();
    perform(projects::addNode(m_session.document(), {.kind = kind, .title = {}, .summary = {}}, {centre}, view));
}

} // namespace residua::app
