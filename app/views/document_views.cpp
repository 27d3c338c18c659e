// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/document_views.h"

#include "app/canvas/canvas_widget.h"
#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/inspector/problems_view.h"
#include "app/look/format.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_view.h"
#include "app/schedule/schedule_page.h"
#include "app/schedule/schedule_ribbon.h"
#include "app/training/run_controller.h"
#include "app/workspace/workspace.h"
#include "editor/block/block_canvas.h"
#include "projects/commands/graph_commands.h"
#include "projects/nodes/towers.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/runs/shown_runs.h"

#include <utility>

namespace residua::app {

DocumentViews::DocumentViews(DocumentSession& session, Analysis& analysis, Workspace& workspace, QObject* parent)
    : QObject(parent), m_session(session), m_analysis(analysis), m_workspace(workspace)
{
    m_soon.setSingleShot(true);
    m_soon.setInterval(0);
    connect(&m_soon, &QTimer::timeout, this, &DocumentViews::refresh);
    connect(&session, &DocumentSession::changed, &m_soon, qOverload<>(&QTimer::start));
    connect(&session, &DocumentSession::opened, this, &DocumentViews::openAnew);
    connect(&session, &DocumentSession::towerShown, this, &DocumentViews::openTower);
    connect(&analysis, &Analysis::updated, this, &DocumentViews::showAnalysis);
    for (CanvasWidget* canvas : workspace.canvases()) {
        connect(canvas, &CanvasWidget::requested, this,
                [this, canvas](const editor::Request& request) { answer(*canvas, request); });
    }
    connectPanels();
}

void DocumentViews::connectPanels()
{
    const auto& inspector = m_workspace.view<Inspector>();
    connect(&inspector, &Inspector::edited, this, &DocumentViews::applyProperty);
    connect(&inspector, &Inspector::editRequested, this, &DocumentViews::applyEdit);
    const auto& palette = m_workspace.view<PaletteView>();
    connect(&palette, &PaletteView::chosen, this, [this](const projects::DocumentChange& change) {
        perform(projects::DocumentChange{keepingPlaces(change.edit), change.selection});
        emit noted(QString::fromStdString(titleOf(change.edit)));
    });
    connect(&palette, &PaletteView::refused, this, &DocumentViews::refused);
    connect(&m_workspace.outlineModel(), &OutlineModel::valueEdited, this, &DocumentViews::applyProperty);
    connect(&m_workspace.view<OutlineView>(), &OutlineView::placeChosen, this, &DocumentViews::choose);
    connect(&m_workspace.runsModel(), &RunsModel::listed, this, &DocumentViews::showOutline);
    connect(&m_workspace.view<ProblemsView>(), &ProblemsView::jumpRequested, this, [this](const std::string& pointer) {
        choosePointer(projects::pointerOfView(m_session.shownTower(), pointer));
        if (std::holds_alternative<NodePlace>(m_place) || std::holds_alternative<GraphPlace>(m_place)) {
            m_workspace.showCanvas(WorkspaceView::Block);
        }
    });
    connect(&m_workspace.view<ProblemsView>(), &ProblemsView::cureRequested, this,
            [this](const projects::Problem& problem) {
                if (const auto cure = projects::cureOf(m_session.project(), problem)) {
                    applyEdit(cure->edit);
                }
            });
    connect(&m_workspace.view<visualizers::HeatmapView>(), &visualizers::HeatmapView::cellHovered, this,
            [this](int row, int column) {
                const bool over = row >= 0 && column >= 0;
                showHovered(over ? std::optional(projects::Shortcut{column, row + 1}) : std::nullopt, nullptr);
            });
}

void DocumentViews::openTower()
{
    m_place = ProjectPlace{};
    m_state = {};
    m_document.reset(); // its blocks are those of another network
    m_scaledAt.reset();
    if (m_session.isOpen()) {
        refresh();
        for (CanvasWidget* canvas : m_workspace.canvases()) {
            canvas->fit();
        }
    }
}

void DocumentViews::openAnew()
{
    openTower();
    if (m_session.isOpen()) {
        m_workspace.view<OutlineView>().expandToDepth(0);
        m_workspace.view<OutlineView>().collapseAll();
    }
}

void DocumentViews::refresh()
{
    m_soon.stop();
    if (!m_session.isOpen()) {
        return;
    }
    followRenames();
    projects::Selection kept = existing(m_session.project(), m_state.selection);
    if (!exists(m_session.project(), m_place)) {
        m_place = kept.empty() ? ProjectPlace{} : placeOfSelection(m_session.project(), kept);
    }
    m_state.selection = std::move(kept);
    m_state.folds = stillFolded(m_session.project().network, std::move(m_state.folds));
    m_state.tower = m_session.shownTower();
    m_document = m_session.snapshot();
    const projects::Objective objective = m_session.project().network.objective;
    m_workspace.setClassifies(objective == projects::Objective::Classification,
                              objective == projects::Objective::TimeAtGoal);
    showOutline();
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setDocument(m_document);
    }
    showPlace();
}

/// A renamed block is the same place.
void DocumentViews::followRenames()
{
    if (!m_document) {
        return;
    }
    const auto follow = [this](projects::GraphRef& graph) {
        const auto kept = keptGraph(m_document->project, graph, m_session.project());
        graph = kept.empty() ? graph : kept;
    };
    std::visit(
        [&](auto& place) {
            if constexpr (requires { place.graph; }) {
                follow(place.graph);
            }
        },
        m_place);
    follow(m_state.selection.graph);
}

void DocumentViews::showOutline()
{
    if (m_session.isOpen() && m_document) {
        m_workspace.outlineModel().setDocument(m_document, m_workspace.runsModel().runs(), m_session.shownTower());
    }
}

const projects::Project& DocumentViews::project() const
{
    return m_session.project();
}

/// Selects the place of a pointer into the whole document, in the tower that has it.
void DocumentViews::choosePointer(const std::string& pointer)
{
    const projects::ViewedField field = projects::viewedField(m_session.wholeProject(), pointer);
    const bool isOfFirst = projects::pointerOfView(1, pointer) != pointer;
    if (field.tower != 0 || isOfFirst) {
        m_session.showTower(field.tower);
    }
    choose(placeOfPointer(m_session.project(), field.pointer));
}

void DocumentViews::choose(const Place& place)
{
    if (const auto* const tower = std::get_if<TowerPlace>(&place)) {
        m_session.showTower(tower->tower);
    }
    m_place = place;
    m_state.selection = selectionOfPlace(m_session.project(), place);
    showPlace();
}

void DocumentViews::showPlace()
{
    showState();
    m_workspace.view<OutlineView>().showPlace(m_place);
    m_workspace.view<Inspector>().show(m_session.project(), m_place);
    m_workspace.view<PaletteView>().setContext(m_session.projectSnapshot(), m_place, m_session.shownTower());
    if (!m_analysis.pending()) { // a pending analysis calls showAnalysis() when it ends
        showAnalysis();
    }
    emit placeChanged();
}

void DocumentViews::showAnalysis()
{
    if (m_soon.isActive()) {
        return; // refresh() will do it
    }
    m_workspace.view<ProblemsView>().setProblems(m_session.project(), m_analysis.problems(), m_analysis.dataState());
    QStringList ofPlace; // other places have more problems than fit
    const auto* const loop = std::get_if<LoopPlace>(&m_place);
    for (const projects::Problem& problem : m_analysis.problems()) {
        if (loop != nullptr && (problem.path + "/").starts_with(pointerOf(*loop) + "/")) {
            ofPlace << QString::fromStdString(problem.text());
        }
    }
    m_workspace.view<Inspector>().setProblems(ofPlace);
    const auto& report = m_analysis.cost();
    m_workspace.view<PaletteView>().setCostNow(report ? std::optional(report->total) : std::nullopt);
    m_workspace.view<Inspector>().cost().setCost(report ? std::optional(report->total) : std::nullopt,
                                                 m_analysis.costOf(m_place), formatUnit(m_session.project().data));
}

void DocumentViews::applyProperty(const Property& property, const QVariant& value)
{
    const auto edit = editOf(property, value);
    if (edit) {
        const bool doesMore = std::holds_alternative<projects::EditGroup>(*edit);
        if (applyEdit(keepingPlaces(*edit)) == Applied::Yes && doesMore) {
            emit noted(QString::fromStdString(titleOf(*edit)));
        }
        if (property.key == projects::kTrainingSteps) {
            m_scaledAt = m_session.history().revision();
        }
    } else {
        emit refused(QString::fromStdString(edit.error().text()));
        refresh(); // the editor shows the value that was rejected
    }
}

/// Returns the edit of a property. Every change of the steps rounds the borders of the stages, so that successive
/// changes scale them from before the first. Otherwise, steps that are raised by one each time would not move them.
Result<projects::Edit> DocumentViews::editOf(const Property& property, const QVariant& value)
{
    if (property.key != projects::kTrainingSteps) {
        auto edit = property.edit(m_session.project(), value);
        return edit ? Result<projects::Edit>(projects::keepingNumbers(m_session.document(), *std::move(edit)))
                    : edit.error();
    }
    const projects::History& history = m_session.history();
    if (m_scaledAt != history.revision()) {
        m_unscaled = m_session.projectSnapshot();
    }
    auto edit = property.edit(*m_unscaled, value);
    const projects::StageSchedule& schedule = m_unscaled->stack().schedule;
    if (edit && !std::holds_alternative<projects::EditGroup>(*edit) &&
        m_session.project().stack().schedule != schedule) {
        return projects::Edit{projects::EditGroup{titleOf(*edit), {*edit, projects::SetSchedule{schedule}}}};
    }
    return edit;
}

/// Nodes of the graph on the block canvas stay in their places, whichever view edits it.
projects::Edit DocumentViews::keepingPlaces(const projects::Edit& edit) const
{
    return projects::keepingPlaces(m_session.document(), edit, m_workspace.blockCanvas().view());
}

DocumentViews::Applied DocumentViews::applyEdit(const projects::Edit& edit)
{
    return report(m_session.perform(edit));
}

DocumentViews::Applied DocumentViews::applyWholeEdit(const projects::Edit& edit)
{
    return report(m_session.performWhole(edit));
}

DocumentViews::Applied DocumentViews::report(const Status& done)
{
    if (!done) {
        emit refused(QString::fromStdString(done.error().text()));
        refresh();
        return Applied::Refused;
    }
    return Applied::Yes;
}

void DocumentViews::perform(const Result<projects::DocumentChange>& change)
{
    if (!change) {
        emit noted(QString::fromStdString(change.error().message));
        return;
    }
    if (applyEdit(change->edit) == Applied::Refused) {
        return;
    }
    refresh(); // the next gesture must apply to the edited document
    if (change->selection) {
        select(*change->selection);
    }
}

void DocumentViews::select(const projects::Selection& selection)
{
    if (m_soon.isActive()) {
        refresh(); // the views must show the current document before the selection is applied
    }
    m_place = placeOfSelection(m_session.project(), selection);
    m_state.selection = selection;
    showPlace();
}

void DocumentViews::fold(std::vector<editor::LayerRun> folds)
{
    m_state.folds = std::move(folds);
    showState();
}

void DocumentViews::answer(const CanvasWidget& canvas, const editor::Request& request)
{
    if (const auto* edit = std::get_if<editor::RequestEdit>(&request)) {
        perform(edit->change);
    } else if (const auto* selection = std::get_if<editor::SelectionChanged>(&request)) {
        select(selection->selection);
    } else if (const auto* folds = std::get_if<editor::FoldsChanged>(&request)) {
        fold(folds->folds);
    } else if (const auto* block = std::get_if<editor::OpenBlock>(&request)) {
        choose(GraphPlace{block->graph});
        m_workspace.view<OutlineView>().expand(m_workspace.view<OutlineView>().currentIndex());
        m_workspace.showCanvas(WorkspaceView::Block);
    } else if (const auto* tower = std::get_if<editor::ShowTower>(&request)) {
        choose(TowerPlace{tower->tower});
        if (!tower->selection.empty()) {
            select(tower->selection);
        }
    } else if (std::holds_alternative<editor::EditSelection>(request)) {
        m_workspace.view<Inspector>().takeFocus();
    } else if (const auto* hover = std::get_if<editor::HoverShortcut>(&request)) {
        const auto& shortcut = hover->shortcut;
        showHovered(shortcut, &canvas);
        m_workspace.view<visualizers::HeatmapView>().setHighlighted(
            shortcut ? static_cast<int>(shortcut->target - 1) : -1, shortcut ? static_cast<int>(shortcut->source) : -1);
    }
}

// Skips the canvas under the pointer, which shows it already and whose selection may be newer than this one.
void DocumentViews::showHovered(std::optional<projects::Shortcut> shortcut, const CanvasWidget* over)
{
    m_state.hovered = shortcut;
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        if (canvas != over) {
            canvas->canvas().setState(m_state);
            canvas->refresh();
        }
    }
}

void DocumentViews::showState()
{
    for (CanvasWidget* canvas : m_workspace.canvases()) {
        canvas->canvas().setState(m_state);
        canvas->refresh();
    }
}

void connectSchedule(const DocumentSession& session, const Analysis& analysis, const RunController& controller,
                     DocumentViews& documents, const visualizers::ShownRuns& shown, SchedulePage& page)
{
    const auto show = [&session, &analysis, &page] {
        if (session.isOpen()) {
            page.setProject(session.projectSnapshot(), analysis.cost());
        }
    };
    QObject::connect(&session, &DocumentSession::opened, &page, &SchedulePage::clearInput);
    QObject::connect(&session, &DocumentSession::opened, &page, show);
    QObject::connect(&session, &DocumentSession::changed, &page, show);
    QObject::connect(&analysis, &Analysis::updated, &page, show);
    QObject::connect(&page, &SchedulePage::edited, &documents, [&documents](const projects::StageSchedule& schedule) {
        documents.applyEdit(projects::SetSchedule{schedule});
    });
    QObject::connect(&page, &SchedulePage::refused, &documents, &DocumentViews::refused);
    const auto follow = [&controller, &page] {
        const bool runs = controller.isOfDocument() && controller.phase() != RunPhase::Idle &&
                          controller.phase() != RunPhase::Starting;
        page.ribbon().setCursorStep(runs ? std::optional(controller.progress().step) : std::nullopt);
    };
    QObject::connect(&controller, &RunController::progressed, &page, follow);
    QObject::connect(&controller, &RunController::phaseChanged, &page, follow);
    const auto showBorders = [&shown, &page] {
        const visualizers::ShownRuns::Run* const run = shown.find(shown.front());
        page.ribbon().setBorders(run ? run->stages : std::vector<engine::StageRecord>());
    };
    QObject::connect(&shown, &visualizers::ShownRuns::stagesChanged, &page, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::begun, &page, showBorders);
    QObject::connect(&shown, &visualizers::ShownRuns::frontChanged, &page, showBorders);
}

} // namespace residua::app
