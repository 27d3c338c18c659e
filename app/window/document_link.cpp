// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/document_link.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/inspector/problems_view.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_view.h"
#include "app/window/workspace.h"
#include "visualizers/heatmap/heatmap_view.h"

#include <utility>

namespace residua::app {

DocumentLink::DocumentLink(DocumentSession& session, Analysis& analysis, Workspace& workspace, QObject* parent)
    : QObject(parent), m_session(session), m_analysis(analysis), m_workspace(workspace)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &DocumentLink::refresh);
    connect(&session, &DocumentSession::changed, &m_soon, qOverload<>(&QTimer::start));
    connect(&session, &DocumentSession::opened, this, &DocumentLink::openAnew);
    connect(&analysis, &Analysis::updated, this, &DocumentLink::showAnalysis);
    connect(&workspace.inspector(), &Inspector::edited, this, &DocumentLink::applyProperty);
    connect(&workspace.inspector(), &Inspector::editRequested, this, &DocumentLink::applyEdit);
    connect(&workspace.palette(), &PaletteView::chosen, this, &DocumentLink::applyEdit);
    connect(&workspace.palette(), &PaletteView::refused, this, &DocumentLink::refused);
    connect(&workspace.outlineModel(), &OutlineModel::valueEdited, this, &DocumentLink::applyProperty);
    connect(&workspace.outline(), &OutlineView::placeChosen, this, &DocumentLink::choose);
    connect(&workspace.problems(), &ProblemsView::jumpRequested, this, [this](const std::string& pointer) {
        choose(placeOfPointer(m_session.project(), pointer));
        if (std::holds_alternative<NodePlace>(m_place) || std::holds_alternative<GraphPlace>(m_place)) {
            m_workspace.showCanvas(WorkspaceView::Block);
        }
    });
    for (CanvasWidget* canvas : workspace.canvases()) {
        connect(canvas, &CanvasWidget::requested, this,
                [this, canvas](const editor::Request& request) { answer(*canvas, request); });
    }
    connect(&workspace.heatmap(), &visualizers::HeatmapView::cellHovered, this, [this](int row, int column) {
        const bool over = row >= 0 && column >= 0;
        showHovered(over ? std::optional(projects::Shortcut{column, row + 1}) : std::nullopt, nullptr);
    });
}

void DocumentLink::openAnew()
{
    m_place = ProjectPlace{};
    m_state = {};
    if (m_session.isOpen()) {
        refresh();
        for (CanvasWidget* canvas : m_workspace.canvases()) {
            canvas->fit();
        }
        m_workspace.outline().expandToDepth(0);
        m_workspace.outline().collapseAll();
    }
}

void DocumentLink::refresh()
{
    m_soon.stop();
    if (!m_session.isOpen()) {
        return;
    }
    projects::Selection kept = existing(m_session.project(), m_state.selection);
    if (!exists(m_session.project(), m_place)) {
        m_place = kept.empty() ? ProjectPlace{} : placeOfSelection(m_session.project(), kept);
    }
    m_state.selection = std::move(kept);
    m_state.folds = stillFolded(m_session.project().network, std::move(m_state.folds));
    m_document = m_session.history().snapshot();
    m_workspace.outlineModel().setDocument(m_document, m_runs);
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setDocument(m_document);
    }
    showPlace();
}

void DocumentLink::setRuns(std::vector<engine::RunInfo> runs)
{
    m_runs = std::move(runs);
    if (m_session.isOpen() && m_document) {
        m_workspace.outlineModel().setDocument(m_document, m_runs);
    }
}

void DocumentLink::choose(const Place& place)
{
    m_place = place;
    m_state.selection = selectionOfPlace(m_session.project(), place);
    showPlace();
}

void DocumentLink::showPlace()
{
    showState();
    m_workspace.outline().showPlace(m_place);
    m_workspace.inspector().show(m_session.project(), m_place);
    m_workspace.palette().setContext(m_session.project(), m_place);
    if (!m_analysis.pending()) { // else it follows of itself
        showAnalysis();
    }
    emit placeChanged();
}

void DocumentLink::showAnalysis()
{
    if (m_soon.isActive()) {
        return; // refresh() will do it
    }
    m_workspace.problems().setProblems(m_analysis.problems());
    const auto& report = m_analysis.cost();
    m_workspace.palette().setCostNow(report ? std::optional(report->total) : std::nullopt);
    m_workspace.inspector().cost().setCost(report ? std::optional(report->total) : std::nullopt,
                                           m_analysis.costOf(m_place),
                                           isLanguage(m_session.project().data) ? tr("token") : tr("sample"));
}

void DocumentLink::applyProperty(const Property& property, const QVariant& value)
{
    const auto edit = property.edit(m_session.project(), value);
    if (edit) {
        applyEdit(*edit);
    } else {
        emit refused(QString::fromStdString(edit.error().text()));
        refresh(); // the editor shows what was refused
    }
}

DocumentLink::Applied DocumentLink::applyEdit(const projects::Edit& edit)
{
    if (const Status done = m_session.perform(edit); !done) {
        emit refused(QString::fromStdString(done.error().text()));
        refresh();
        return Applied::Refused;
    }
    return Applied::Yes;
}

void DocumentLink::perform(const projects::DocumentChange& change)
{
    if (applyEdit(change.edit) == Applied::Refused) {
        return;
    }
    refresh();
    if (change.selection) {
        select(*change.selection);
    }
}

void DocumentLink::select(const projects::Selection& selection)
{
    if (m_soon.isActive()) {
        refresh(); // the selection was made on the document of now
    }
    m_place = placeOfSelection(m_session.project(), selection);
    m_state.selection = selection;
    showPlace();
}

void DocumentLink::fold(std::vector<editor::LayerRun> folds)
{
    m_state.folds = std::move(folds);
    showState();
}

void DocumentLink::answer(const CanvasWidget& canvas, const editor::Request& request)
{
    if (const auto* edit = std::get_if<editor::RequestEdit>(&request)) {
        applyEdit(edit->edit);
        refresh(); // the next gesture must be made on what the edit has changed
    } else if (const auto* selection = std::get_if<editor::SelectionChanged>(&request)) {
        select(selection->selection);
    } else if (const auto* folds = std::get_if<editor::FoldsChanged>(&request)) {
        fold(folds->folds);
    } else if (const auto* block = std::get_if<editor::OpenBlock>(&request)) {
        choose(GraphPlace{block->graph});
        m_workspace.outline().expand(m_workspace.outline().currentIndex());
        m_workspace.showCanvas(WorkspaceView::Block);
    } else if (std::holds_alternative<editor::EditSelection>(request)) {
        m_workspace.inspector().takeFocus();
    } else if (const auto* hover = std::get_if<editor::HoverShortcut>(&request)) {
        const auto& shortcut = hover->shortcut;
        showHovered(shortcut, &canvas);
        m_workspace.heatmap().setHighlighted(shortcut ? static_cast<int>(shortcut->target - 1) : -1,
                                             shortcut ? static_cast<int>(shortcut->source) : -1);
    }
}

// The canvas that the pointer is over shows it already, and its selection may be newer than this one.
void DocumentLink::showHovered(std::optional<projects::Shortcut> shortcut, const CanvasWidget* over)
{
    m_state.hovered = shortcut;
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        if (canvas != over) {
            canvas->canvas().setState(m_state);
            canvas->refresh();
        }
    }
}

void DocumentLink::showState()
{
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setState(m_state);
        canvas->refresh();
    }
}

} // namespace residua::app
