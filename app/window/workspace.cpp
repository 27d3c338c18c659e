// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/workspace.h"

#include "app/block/block_bar.h"
#include "app/canvas/canvas_widget.h"
#include "app/inspector/inspector.h"
#include "app/inspector/problems_view.h"
#include "app/look/theme.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_view.h"
#include "app/runs/runs_panel.h"
#include "app/schedule/schedule_panel.h"
#include "app/sweeps/sweep_panel.h"
#include "editor/block/block_canvas.h"
#include "editor/depth/depth_canvas.h"
#include "editor/matrix/matrix_canvas.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"

#include <QApplication>
#include <QDockWidget>
#include <QSplitter>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <iterator>

namespace residua::app {

namespace {

constexpr int kOutlineWidth = 300;
constexpr int kNarrowestOutline = 160;
constexpr int kNarrowestInspector = 270; ///< a field beside its name
constexpr int kInspectorWidth = 330;
constexpr int kNarrowestPlot = 280;
constexpr int kWideEnough = 1500; ///< for loss and heatmap beside each other
constexpr int kRoomForTwo = kNarrowestOutline + kNarrowestInspector + 2 * kNarrowestPlot + 20; ///< plots
constexpr double kPlotShare = 0.36;
constexpr double kPlotShareOfPlots = 0.62;
constexpr double kPlotShareOfHigh = 0.22; ///< a matrix is square, and what flows through a block flows upwards

/// A canvas below a bar that belongs to it.
QWidget* underBar(QWidget* bar, CanvasWidget* canvas)
{
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(bar);
    column->addWidget(canvas, 1);
    page->setFocusProxy(canvas);
    return page;
}

} // namespace

Workspace::Workspace(const Look& look, QWidget* parent)
    : QMainWindow(parent, Qt::Widget),
      m_look(look),
      m_canvas(new CanvasWidget(editor::makeDepthCanvas(), this)),
      m_matrix(new CanvasWidget(editor::makeMatrixCanvas(), this)),
      m_blockCanvas(nullptr),
      m_block(nullptr),
      m_blockBar(new BlockBar),
      m_centre(new QTabWidget(this)),
      m_outline(new OutlineView(m_outlineModel)),
      m_palette(new PaletteView(m_paletteModel)),
      m_inspector(new Inspector),
      m_problems(new ProblemsView(look)),
      m_loss(new visualizers::LossView),
      m_heatmap(new visualizers::HeatmapView),
      m_metrics(new visualizers::MetricsView),
      m_pareto(new visualizers::ParetoView),
      m_runs(new RunsPanel(m_runsModel)),
      m_sweeps(new SweepPanel),
      m_schedule(new SchedulePanel(look))
{
    auto blockCanvas = editor::makeBlockCanvas();
    m_blockCanvas = blockCanvas.get();
    m_block = new CanvasWidget(std::move(blockCanvas), this);
    setObjectName(QStringLiteral("workspace"));
    setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks |
                   QMainWindow::GroupedDragging); // a tab that is dragged away is torn off
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    m_canvas->setAccessibleName(tr("Depth canvas; the outline holds the same for the keyboard"));
    m_matrix->setAccessibleName(tr("Matrix of shortcuts; the arrows move over its cells, Space adds or prunes"));
    m_block->setAccessibleName(tr("Block canvas; the arrows follow its wires, the outline holds its nodes"));
    m_centre->setObjectName(QStringLiteral("centre"));
    m_centre->setAccessibleName(tr("Canvases"));
    m_centre->setDocumentMode(true);
    m_centre->addTab(m_canvas, tr("Depth"));
    m_centre->addTab(m_matrix, tr("Matrix"));
    m_centre->addTab(underBar(m_blockBar, m_block), tr("Block"));
    m_centre->addTab(m_schedule, tr("Schedule"));
    setCentralWidget(m_centre);
    m_palette->acceptDropsOn(*m_canvas);
    m_palette->acceptDropsOn(*m_matrix);

    auto* right = new QSplitter(Qt::Vertical);
    right->addWidget(m_inspector);
    right->addWidget(m_problems);
    right->setStretchFactor(0, 4);
    right->setStretchFactor(1, 1);
    right->setSizes({600, 140});
    right->setChildrenCollapsible(false);
    right->setMinimumWidth(kNarrowestInspector);
    m_outline->setMinimumWidth(kNarrowestOutline);
    m_palette->setMinimumWidth(kNarrowestOutline);

    m_outlineDock = addDock(Qt::LeftDockWidgetArea, QStringLiteral("outlineDock"), tr("Outline"), m_outline);
    m_paletteDock = addDock(Qt::LeftDockWidgetArea, QStringLiteral("paletteDock"), tr("Palette"), m_palette);
    m_inspectorDock = addDock(Qt::RightDockWidgetArea, QStringLiteral("inspectorDock"), tr("Inspector"), right);
    m_lossDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("lossDock"), tr("Loss"), m_loss);
    m_heatmapDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("heatmapDock"), tr("Coefficients"), m_heatmap);
    m_metricsDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("metricsDock"), tr("Norms and speed"), m_metrics);
    m_paretoDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("paretoDock"), tr("Pareto"), m_pareto);
    m_runsDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("runsDock"), tr("Runs"), m_runs);
    m_sweepDock = addDock(Qt::BottomDockWidgetArea, QStringLiteral("sweepDock"), tr("Sweep"), m_sweeps);
    for (QWidget* view : std::initializer_list<QWidget*>{m_loss, m_heatmap, m_metrics, m_pareto, m_runs, m_sweeps}) {
        view->setMinimumWidth(kNarrowestPlot); // else its rows of controls would keep a narrow window wide
    }
    // Side by side, the new docks would ask for a very wide window, and get it before they are arranged.
    for (QDockWidget* dock : {m_heatmapDock, m_metricsDock, m_paretoDock, m_runsDock, m_sweepDock}) {
        tabifyDockWidget(m_lossDock, dock);
    }
    arrange(WorkspaceView::Depth, size());
    connect(&look, &Look::changed, this, &Workspace::applyTheme);
    applyTheme();
}

QDockWidget* Workspace::addDock(Qt::DockWidgetArea area, const QString& name, const QString& title, QWidget* content)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    addDockWidget(area, dock);
    dock->toggleViewAction()->setObjectName(QStringLiteral("panel:") + name); // in the user's settings: it stays
    m_docks.push_back(dock);
    const auto later = [this] { QMetaObject::invokeMethod(this, &Workspace::updateTitleBars, Qt::QueuedConnection); };
    connect(dock, &QDockWidget::dockLocationChanged, this, later);
    connect(dock, &QDockWidget::topLevelChanged, this, later);
    connect(dock, &QDockWidget::visibilityChanged, this, later);
    return dock;
}

void Workspace::arrange(WorkspaceView view, QSize size)
{
    // Out first: on its way to its place a dock would else stand beside others, and ask for more width than there is.
    for (QDockWidget* dock : m_docks) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    bringForward(view);
    addDockWidget(Qt::LeftDockWidgetArea, m_outlineDock);
    tabifyDockWidget(m_outlineDock, m_paletteDock);
    addDockWidget(Qt::RightDockWidgetArea, m_inspectorDock);
    addDockWidget(Qt::BottomDockWidgetArea, m_lossDock);
    const bool sideBySide = size.width() >= (view == WorkspaceView::Plots ? kRoomForTwo : kWideEnough);
    if (sideBySide) {
        splitDockWidget(m_lossDock, m_heatmapDock, Qt::Horizontal);
        tabifyDockWidget(m_lossDock, m_metricsDock);
        tabifyDockWidget(m_metricsDock, m_paretoDock);
        tabifyDockWidget(m_heatmapDock, m_runsDock);
        tabifyDockWidget(m_runsDock, m_sweepDock);
    } else {
        tabifyDockWidget(m_lossDock, m_heatmapDock);
        tabifyDockWidget(m_lossDock, m_metricsDock);
        tabifyDockWidget(m_metricsDock, m_paretoDock);
        tabifyDockWidget(m_paretoDock, m_runsDock);
        tabifyDockWidget(m_runsDock, m_sweepDock);
    }
    for (QDockWidget* dock : m_docks) {
        dock->show();
    }
    for (QDockWidget* dock : {m_outlineDock, m_heatmapDock, m_lossDock, dockOf(view)}) {
        if (dock) {
            dock->raise();
        }
    }
    if (sideBySide) {
        resizeDocks({m_lossDock, m_heatmapDock}, {3, 2}, Qt::Horizontal);
    }
    resizeDocks({m_outlineDock, m_inspectorDock}, {kOutlineWidth, kInspectorWidth}, Qt::Horizontal);
    const bool plots = view >= WorkspaceView::Plots && view < WorkspaceView::Palette;
    const bool high = view == WorkspaceView::Block || view == WorkspaceView::Matrix;
    const double share = plots ? kPlotShareOfPlots : high ? kPlotShareOfHigh : kPlotShare;
    const int least = high ? 120 : 220;
    resizeDocks({m_lossDock}, {std::max(least, static_cast<int>(size.height() * share))}, Qt::Vertical);
}

QDockWidget* Workspace::dockOf(WorkspaceView view) const
{
    switch (view) {
    case WorkspaceView::Loss:
        return m_lossDock;
    case WorkspaceView::Coefficients:
        return m_heatmapDock;
    case WorkspaceView::Norms:
        return m_metricsDock;
    case WorkspaceView::Pareto:
        return m_paretoDock;
    case WorkspaceView::Runs:
        return m_runsDock;
    case WorkspaceView::Sweep:
        return m_sweepDock;
    case WorkspaceView::Palette:
        return m_paletteDock;
    default:
        return nullptr;
    }
}

/// That with the focus; else the one in front below the canvases.
QDockWidget* Workspace::dockInFront() const
{
    for (QDockWidget* dock : m_docks) {
        if (dock->isAncestorOf(QApplication::focusWidget())) {
            return dock;
        }
    }
    QDockWidget* const below[] = {m_lossDock, m_heatmapDock, m_metricsDock, m_paretoDock, m_runsDock, m_sweepDock};
    const auto isInFront = [](QDockWidget* dock) { return !dock->visibleRegion().isEmpty(); };
    const auto* const found = std::ranges::find_if(below, isInFront);
    return found == std::end(below) ? nullptr : *found;
}

void Workspace::toggleFloating()
{
    if (QDockWidget* dock = dockInFront()) {
        dock->setFloating(!dock->isFloating());
        dock->raise();
        dock->activateWindow();
    }
}

visualizers::PlotView* Workspace::plotInFront() const
{
    const QDockWidget* dock = dockInFront();
    auto* plot = dock ? qobject_cast<visualizers::PlotView*>(dock->widget()) : nullptr;
    return plot ? plot : m_loss;
}

void Workspace::showPalette()
{
    m_paletteDock->show();
    m_paletteDock->raise();
    m_palette->focusSearch();
}

void Workspace::showSweeps()
{
    m_sweepDock->show();
    m_sweepDock->raise();
}

void Workspace::showSchedule()
{
    m_centre->setCurrentWidget(m_schedule);
    m_schedule->setFocus();
}

CanvasWidget& Workspace::currentCanvas()
{
    for (CanvasWidget* canvas : canvases()) {
        if (m_centre->currentWidget() == canvas || m_centre->currentWidget()->isAncestorOf(canvas)) {
            return *canvas;
        }
    }
    return *m_canvas;
}

void Workspace::bringForward(WorkspaceView view)
{
    m_centre->setCurrentWidget(view == WorkspaceView::Matrix     ? static_cast<QWidget*>(m_matrix)
                               : view == WorkspaceView::Schedule ? static_cast<QWidget*>(m_schedule)
                               : view == WorkspaceView::Block    ? m_block->parentWidget()
                                                                 : m_canvas);
}

void Workspace::showCanvas(WorkspaceView view)
{
    bringForward(view);
    currentCanvas().surface()->setFocus();
}

/// A tab names its dock already: a title under it would say the same twice.
void Workspace::updateTitleBars()
{
    for (QDockWidget* dock : m_docks) {
        const bool tabbed = !dock->isFloating() && !tabifiedDockWidgets(dock).isEmpty();
        if (tabbed == (dock->titleBarWidget() != nullptr)) {
            continue;
        }
        QWidget* old = dock->titleBarWidget();
        dock->setTitleBarWidget(tabbed ? new QWidget(dock) : nullptr);
        delete old;
    }
}

void Workspace::applyTheme()
{
    const ThemeKind kind = m_look.theme().kind();
    for (CanvasWidget* canvas : canvases()) {
        canvas->setTheme(kind);
    }
    m_loss->setTheme(kind);
    for (const engine::RunInfo& run : m_runsModel.runs()) {
        if (m_runsModel.isOverlaid(run.directory)) {
            m_runsModel.setColour(run.directory, m_loss->colourOf(QString::fromStdString(run.directory)));
        }
    }
    m_heatmap->setTheme(kind);
    m_metrics->setTheme(kind);
    m_pareto->setTheme(kind);
}

} // namespace residua::app
