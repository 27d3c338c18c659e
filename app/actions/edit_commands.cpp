// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/edit_commands.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/document/document_session.h"
#include "app/outline/outline_view.h"
#include "app/views/document_views.h"
#include "app/views/live_views.h"
#include "app/workspace/workspace.h"
#include "editor/block/block_canvas.h"
#include "projects/commands/graph_commands.h"
#include "projects/commands/typing.h"
#include "projects/transfer/ties.h"

#include <QApplication>
#include <QClipboard>

#include <map>

namespace residua::app {

EditCommands::EditCommands(const WindowParts& parts) : CommandGroup(parts), m_live(parts.live)
{
    connect(m_actions.prune, &QAction::triggered, this, &EditCommands::deleteSelection);
    connect(m_actions.freeze, &QAction::triggered, this, &EditCommands::toggleFrozen);
    connect(m_actions.freezeAtStart, &QAction::triggered, this, &EditCommands::freezeAtStart);
    connect(m_actions.selectAll, &QAction::triggered, this, &EditCommands::selectAll);
    connect(m_actions.deselect, &QAction::triggered, this, &EditCommands::giveUp);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, const QWidget* now) { followFocus(now); });
    connect(&m_workspace, &Workspace::frontChanged, this, &EditCommands::availabilityChanged);
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        connect(canvas, &CanvasWidget::requested, this, [this, canvas](const editor::Request& request) {
            if (const auto* asked = std::get_if<editor::AskTyping>(&request)) {
                ask(*canvas, *asked);
            }
        });
        connect(canvas, &CanvasWidget::typed, &m_documents,
                [this](const projects::DocumentChange& change) { m_documents.perform(change); });
    }
}

void EditCommands::followFocus(const QWidget* now)
{
    if (now != nullptr && m_workspace.isAncestorOf(now)) {
        const OutlineView& outline = m_workspace.view<OutlineView>();
        m_keysInOutline = now == &outline || outline.isAncestorOf(now);
        emit availabilityChanged();
    }
}

bool EditCommands::available() const
{
    return m_keysInOutline || m_workspace.frontCanvas() != nullptr;
}

CanvasWidget* EditCommands::front()
{
    CanvasWidget* const canvas = m_workspace.frontCanvas();
    if (canvas) {
        canvas->passOn();
    }
    return canvas;
}

bool EditCommands::isBlock(const CanvasWidget* canvas) const
{
    return canvas == &m_workspace.block();
}

projects::Selection EditCommands::selectionIn(const CanvasWidget* canvas) const
{
    return isBlock(canvas) ? partOfGraph(m_documents.selection(), m_workspace.blockCanvas().graph())
                           : partOfStack(m_documents.selection());
}

Result<projects::Selection> EditCommands::meant()
{
    const CanvasWidget* const canvas = front();
    if (m_keysInOutline) {
        const std::optional<Place> thing = m_workspace.view<OutlineView>().thing();
        if (!thing) {
            return Error{"outline", "this row is nothing that can be selected: go to that of what it belongs to"};
        }
        if (*thing != m_documents.place()) {
            m_documents.choose(*thing);
        }
    } else if (!canvas) {
        return Error{"selection", "no canvas is in front"};
    }
    const projects::Selection& all = m_documents.selection();
    const projects::Selection stack = partOfStack(all);
    const projects::Selection graph = partOfGraph(all, all.graph);
    if (stack.empty() != graph.empty()) {
        return stack.empty() ? graph : stack;
    }
    return selectionIn(canvas);
}

projects::GraphView EditCommands::viewFor(const projects::Selection& selection) const
{
    const bool seen = !selection.graph.empty() && selection.graph == m_workspace.blockCanvas().graph();
    return seen ? m_workspace.blockCanvas().view() : projects::GraphView{selection.graph, {}, {}};
}

template <class Command>
void EditCommands::run(Command command)
{
    const Result<projects::Selection> selection = meant();
    m_documents.perform(selection ? command(*selection) : Result<projects::DocumentChange>(selection.error()));
}

void EditCommands::deleteSelection()
{
    run([this](const projects::Selection& selection) {
        const bool cells = m_workspace.frontCanvas() == &m_workspace.matrix() && !m_keysInOutline;
        return cells && !selection.shortcuts.empty()
                   ? pruneShortcuts(m_session.document(), selection)
                   : projects::deleteSelection(m_session.document(), selection, viewFor(selection));
    });
}

void EditCommands::toggleFrozen()
{
    run([this](const projects::Selection& selection) {
        return projects::toggleFrozen(m_session.document(), selection, m_live.frozenAsShown(selection.shortcuts));
    });
}

void EditCommands::freezeAtStart()
{
    run([this](const projects::Selection& selection) {
        return projects::freezeAtStart(m_session.document(), selection);
    });
}

void EditCommands::selectAll()
{
    const CanvasWidget* const canvas = front();
    if (!canvas) {
        return;
    }
    const projects::Project& project = m_session.project();
    m_documents.select(isBlock(canvas)                   ? everyNode(project, m_workspace.blockCanvas().graph())
                       : canvas == &m_workspace.matrix() ? everyShortcut(project)
                                                         : wholeStack(project));
}

void EditCommands::giveUp()
{
    CanvasWidget* const canvas = front();
    if (!canvas) {
        return;
    }
    if (canvas->canvas().giveUp()) {
        canvas->refresh();
    } else if (isBlock(canvas) && selectionIn(canvas).empty()) {
        m_workspace.showCanvas(WorkspaceView::Depth);
    } else {
        m_documents.select({.graph = isBlock(canvas) ? m_workspace.blockCanvas().graph() : projects::GraphRef{}});
    }
}

/// For a row of the outline with a value, copies its text.
void EditCommands::copy()
{
    const Result<projects::Selection> selection = meant();
    const QString text = selection
                             ? QString::fromStdString(copied(m_session.document(), *selection, viewFor(*selection)))
                         : m_keysInOutline ? m_workspace.view<OutlineView>().currentIndex().data().toString()
                                           : QString();
    if (!text.isEmpty()) {
        QApplication::clipboard()->setText(text);
    }
}

void EditCommands::cut()
{
    if (meant()) {
        copy();
    }
    deleteSelection();
}

/// Pastes at the selection. The canvas in front, or the row of the outline, determines the target.
void EditCommands::paste()
{
    const CanvasWidget* const canvas = front();
    const projects::Selection selection = m_keysInOutline ? m_documents.selection() : selectionIn(canvas);
    const auto pasted = projects::paste(m_session.document(), selection,
                                        QApplication::clipboard()->text().toStdString(), viewFor(selection));
    if (pasted) {
        m_documents.perform(*pasted);
    } else {
        refuse(QString::fromStdString(pasted.error().text()));
    }
}

void EditCommands::duplicate()
{
    run([this](const projects::Selection& selection) {
        return duplicateSelection(m_session.document(), selection, viewFor(selection));
    });
}

void EditCommands::toggleFold()
{
    if (front() == &m_workspace.canvas()) {
        m_documents.fold(toggled(m_session.project().network, m_documents.folds(), m_documents.selection().layers));
    }
}

/// The name is typed on the depth canvas, which shows the group.
void EditCommands::group()
{
    typeForLayers([](const projects::Selection&) { return std::string("group "); });
}

void EditCommands::typeVisits()
{
    typeForLayers([this](const projects::Selection& selection) {
        const projects::Loop* const loop = loopOfSelection(m_session.project(), selection);
        return "visits " + (loop != nullptr ? std::to_string(loop->visits) : std::string());
    });
}

void EditCommands::visitOnce()
{
    run([this](const projects::Selection& selection) { return visitLayersOnce(m_session.document(), selection); });
}

void EditCommands::untie()
{
    run([this](const projects::Selection& selection) -> Result<projects::DocumentChange> {
        const projects::Stack& stack = m_session.project().stack();
        const projects::Loop* const loop = loopOfSelection(m_session.project(), selection);
        if (loop == nullptr) {
            return Error{"loops", "the selected layers are not of one loop"};
        }
        const Result<projects::Edit> edit =
            untieEdit(m_session.document(), static_cast<std::size_t>(loop - stack.loops.data()));
        return edit ? projects::DocumentChange{*edit, selection} : Result<projects::DocumentChange>(edit.error());
    });
}

void EditCommands::changeVisits(std::int64_t by)
{
    run([this, by](const projects::Selection& selection) -> Result<projects::DocumentChange> {
        const projects::Loop* const loop = loopOfSelection(m_session.project(), selection);
        return loop == nullptr ? Error{"selection", "no loop is selected: “Visit several times…” makes one"}
                               : visitLayers(m_session.document(), selection, loop->visits + by);
    });
}

/// Asks on the depth canvas for a text about the selected layers that begins with `text`.
void EditCommands::typeForLayers(const std::function<std::string(const projects::Selection&)>& text)
{
    const Result<projects::Selection> selection = meant();
    if (!selection || selection->layers.empty()) {
        m_documents.perform(selection ? Error{"selection", "no layer is selected"} : selection.error());
        return;
    }
    if (m_workspace.frontCanvas() != &m_workspace.canvas()) {
        m_workspace.showCanvas(WorkspaceView::Depth);
    }
    editor::AskTyping asked = m_workspace.canvas().canvas().typingPlace();
    asked.text = text(*selection);
    ask(m_workspace.canvas(), asked);
}

void EditCommands::ungroup()
{
    run([this](const projects::Selection& selection) { return ungroupLayers(m_session.document(), selection); });
}

void EditCommands::typeToAdd()
{
    if (CanvasWidget* const canvas = front()) {
        ask(*canvas, canvas->canvas().typingPlace());
    }
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
    m_documents.perform(
        alignNodes(m_session.document(), partOfGraph(m_documents.selection(), view.graph), alignment, view));
}

void EditCommands::tidy()
{
    if (!isBlock(front())) {
        return;
    }
    std::map<projects::NodeId, projects::Position> places;
    for (const auto& [id, at] : m_workspace.blockCanvas().scene().tidied()) {
        places.emplace(id, editor::positionOf(at));
    }
    m_documents.perform(tidyNodes(m_session.document(), places, m_workspace.blockCanvas().view()));
    m_workspace.block().fit();
}

void EditCommands::addNode(const std::string& kind, std::optional<QPoint> at)
{
    const editor::BlockCanvas& block = m_workspace.blockCanvas();
    const projects::GraphView view = block.view();
    const projects::Position centre =
        at ? block.positionAt({static_cast<float>(at->x()), static_cast<float>(at->y())}) : view.inSight->centre();
    m_documents.perform(projects::addNode(m_session.document(), {.kind = kind, .title = {}, .summary = {}},
                                          projects::NodeSpot{centre}, view));
}

} // namespace residua::app
