// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/workspace.h"

#include "app/block/block_bar.h"
#include "app/canvas/canvas_widget.h"
#include "app/look/theme.h"
#include "app/palette/palette_view.h"
#include "app/schedule/schedule_page.h"
#include "app/workspace/panel_focus.h"
#include "app/workspace/tower_bar.h"
#include "editor/block/block_canvas.h"
#include "editor/canvas/canvas.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_view.h"
#include "visualizers/runs/loss_view.h"

#include <QApplication>
#include <QEvent>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <string_view>
#include <utility>

namespace residua::app {

namespace {

constexpr QSize kLeastCentre{200, 110}; ///< else the bars of the pages behind would ask for more
constexpr int kOneColumn = 900;         ///< narrower, the left and the right panels are tabs of one place
constexpr int kRoomForTwo = 840;        ///< width of panels beside each other below the canvases
constexpr double kPlotShareOfPlots = 0.62;
constexpr double kMostOfLeast = 1.25;     ///< factor of its share that the panels below may take in a low window
constexpr double kPlotShareOfHigh = 0.22; ///< a matrix is square, and blocks are drawn upwards

/// Returns a page with the bar above what it belongs to.
QWidget* underBar(QWidget* bar, QWidget* canvas)
{
    auto* page = new QWidget;
    visualizers::makeColumn(page, visualizers::kNoRoom, {bar, {canvas, 1}});
    page->setFocusProxy(canvas);
    return page;
}

/// The width that a window leaves the panels below its canvases.
int roomBelow(const Layout& layout, QSize window)
{
    const DockExtents sides = fitting({}, window);
    return window.width() - (layout.left ? sides.left : 0) - (layout.right ? sides.right : 0);
}

Qt::DockWidgetArea areaOf(const Panel& panel)
{
    return panel.area == PanelArea::Left    ? Qt::LeftDockWidgetArea
           : panel.area == PanelArea::Right ? Qt::RightDockWidgetArea
                                            : Qt::BottomDockWidgetArea;
}

/// True for the panel that only a project that classifies, or acts in a world, needs.
bool isConfusion(const Panel& panel)
{
    return std::string_view(panel.view) == "confusion";
}

} // namespace

Workspace::Workspace(const Look& look, QWidget* parent)
    : QMainWindow(parent, Qt::Widget),
      m_look(look),
      m_runsModel(m_shownRuns),
      m_costs(m_runsModel),
      m_canvas(new CanvasWidget(editor::makeDepthCanvas(), this)),
      m_matrix(new CanvasWidget(editor::makeMatrixCanvas(), this)),
      m_blockCanvas(nullptr),
      m_block(nullptr),
      m_blockBar(new BlockBar),
      m_centre(new QTabWidget(this)),
      m_schedule(new SchedulePage(look)),
      m_towers(new TowerBar)
{
    auto blockCanvas = editor::makeBlockCanvas();
    m_blockCanvas = blockCanvas.get();
    m_block = new CanvasWidget(std::move(blockCanvas), this);
    setObjectName(QStringLiteral("workspace"));
    setDockOptions(QMainWindow::AnimatedDocks | QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks |
                   QMainWindow::GroupedDragging); // a tab that is dragged away floats
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    makeCentre();
    m_shownMatrices.follow(m_shownRuns);
    m_confusion.follow(m_shownRuns);
    const PanelModels models{m_look,      m_outlineModel,  m_paletteModel, m_runsModel, m_costs,
                             m_shownRuns, m_shownMatrices, m_shownEffects, m_confusion};
    for (const Panel& panel : panels()) {
        addDock(panel, panel.make(models));
    }
    view<PaletteView>().acceptDropsOn(*m_canvas);
    view<PaletteView>().acceptDropsOn(*m_matrix);
    arrange({}, size());
    for (const visualizers::PlotView* plot : findChildren<visualizers::PlotView*>()) {
        connect(plot, &visualizers::PlotView::exportChosen, this, &Workspace::setExportChoice);
        connect(plot, &visualizers::PlotView::exportChosen, this, &Workspace::exportChosen);
    }
    connect(&m_costs, &RunCosts::changed, &m_runsModel, [this](const std::vector<visualizers::ParetoRun>& runs) {
        m_runsModel.setColumns(ColumnSource::Costs, costColumns(runs));
    });
    connect(&look, &Look::changed, this, &Workspace::applyTheme);
    applyTheme();
    new PanelMark(*this);
}

void Workspace::makeCentre()
{
    m_canvas->setAccessibleName(tr("Depth canvas; the outline holds the same for the keyboard"));
    m_matrix->setAccessibleName(tr("Matrix of shortcuts; the arrows move over its cells, Space adds or prunes"));
    m_block->setAccessibleName(tr("Block canvas; the arrows follow its wires, the outline holds its nodes"));
    visualizers::setNames(*m_centre, "centre", tr("Canvases"));
    m_centre->setDocumentMode(true);
    m_centre->setMinimumSize(kLeastCentre);
    m_centre->addTab(m_canvas, tr("Depth"));
    m_centre->addTab(m_matrix, tr("Matrix"));
    m_centre->addTab(underBar(m_blockBar, m_block), tr("Block"));
    m_centre->addTab(m_schedule, tr("Schedule"));
    connect(m_centre, &QTabWidget::currentChanged, this, &Workspace::frontChanged);
    setCentralWidget(underBar(m_towers, m_centre));
}

void Workspace::addDock(const Panel& panel, QWidget* content)
{
    auto* dock = new QDockWidget(panel.text(), this);
    dock->setObjectName(QLatin1String(panel.dock));
    content->setMinimumSize(panel.least);
    dock->setWidget(content);
    addDockWidget(areaOf(panel), dock);
    // Side by side, new docks would require a very wide window, and get it before they are arranged.
    for (std::size_t i = 0; i < m_docks.size(); ++i) {
        if (areaOf(panels()[i]) == areaOf(panel)) {
            tabifyDockWidget(m_docks[i], dock);
            break;
        }
    }
    dock->toggleViewAction()->setObjectName(QStringLiteral("panel:") + dock->objectName()); // in the user's settings
    m_docks.push_back(dock);
    const auto later = [this] { QMetaObject::invokeMethod(this, &Workspace::updateTitleBars, Qt::QueuedConnection); };
    connect(dock, &QDockWidget::dockLocationChanged, this, later);
    connect(dock, &QDockWidget::topLevelChanged, this, later);
    connect(dock, &QDockWidget::visibilityChanged, this, later);
}

std::vector<QDockWidget*> Workspace::docksOf(PanelArea area) const
{
    std::vector<QDockWidget*> docks;
    for (std::size_t i = 0; i < m_docks.size(); ++i) {
        if (panels()[i].area == area) {
            docks.push_back(m_docks[i]);
        }
    }
    return docks;
}

QDockWidget* Workspace::dockOf(const Panel& panel) const
{
    return m_docks[static_cast<std::size_t>(&panel - panels().data())];
}

void Workspace::arrange(const Arrangement& wanted, QSize size)
{
    bringForward(wanted.view);
    placeDocks(*wanted.layout, size);
    if (wanted.front) {
        dockOf(*wanted.front)->show();
        dockOf(*wanted.front)->raise();
    }
    sizeDocks(wanted, size);
}

void Workspace::setClassifies(bool classifies, bool acts)
{
    const bool sameActs = std::exchange(m_acts, acts) == acts;
    if (std::exchange(m_classifies, classifies) == classifies && sameActs) {
        return;
    }
    showConfusion();
    view<visualizers::LossView>().showAccuracy(classifies);
}

/// Shows, names or hides the confusion's panel by the project.
void Workspace::showConfusion()
{
    for (const Panel& panel : panels()) {
        if (isConfusion(panel)) {
            dockOf(panel)->setVisible(m_classifies || m_acts);
            dockOf(panel)->setWindowTitle(m_acts ? tr("Episodes") : panel.text());
        }
    }
}

void Workspace::applyLayout(const Layout& layout)
{
    placeDocks(layout, size());
    sizeDocks({.layout = &layout}, size());
}

void Workspace::placeDocks(const Layout& layout, QSize size)
{
    // Removed first, because a dock would otherwise be beside others while it is moved, and require too much width.
    for (QDockWidget* dock : m_docks) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    placeSides(size);
    placeBelow(layout, size);
    for (const Panel& panel : panels()) {
        dockOf(panel)->setVisible(panel.area == PanelArea::Left    ? layout.left
                                  : panel.area == PanelArea::Right ? layout.right
                                                                   : m_classifies || m_acts || !isConfusion(panel));
    }
    for (const PanelArea area : {PanelArea::Left, PanelArea::Right, PanelArea::Tables, PanelArea::Curves}) {
        docksOf(area).front()->raise();
    }
    const std::string_view beside = layout.beside ? layout.beside : "";
    const std::string_view raised = (m_classifies || m_acts) && beside == "coefficients" ? "confusion" : beside;
    for (const Panel& panel : panels()) {
        if (panel.view == raised) {
            dockOf(panel)->raise();
        }
    }
}

void Workspace::placeSides(QSize size)
{
    const bool oneColumn = size.width() < kOneColumn;
    for (const Panel& panel : panels()) {
        if (!panel.isBelow()) {
            QDockWidget* first = docksOf(oneColumn ? PanelArea::Left : panel.area).front();
            dockOf(panel) == first ? addDockWidget(areaOf(panel), first) : tabifyDockWidget(first, dockOf(panel));
        }
    }
}

void Workspace::placeBelow(const Layout& layout, QSize size)
{
    const std::vector<QDockWidget*> curves = docksOf(PanelArea::Curves);
    const std::vector<QDockWidget*> tables = docksOf(PanelArea::Tables);
    const bool sideBySide = layout.beside && roomBelow(layout, size) >= kRoomForTwo;
    addDockWidget(Qt::BottomDockWidgetArea, curves.front());
    if (sideBySide) {
        splitDockWidget(curves.front(), tables.front(), Qt::Horizontal);
    } else {
        tabifyDockWidget(curves.front(), tables.front());
    }
    for (const auto& tabs : {curves, tables}) {
        for (std::size_t i = 1; i < tabs.size(); ++i) {
            tabifyDockWidget(tabs[i - 1], tabs[i]);
        }
    }
}

void Workspace::sizeDocks(const Arrangement& wanted, QSize size)
{
    const bool plots = wanted.front && wanted.front->isBelow();
    const bool high = wanted.view == WorkspaceView::Block || wanted.view == WorkspaceView::Matrix;
    const double share = plots ? kPlotShareOfPlots : high ? kPlotShareOfHigh : wanted.layout->below;
    const double least = std::min((high ? 120.0 : 220.0) / std::max(size.height(), 1), share * kMostOfLeast);
    DockExtents extents;
    extents.below = std::max(least, share);
    m_keeper.want(extents);
    if (wanted.layout->beside) {
        const double room = roomBelow(*wanted.layout, size);
        const auto tables = static_cast<int>(wanted.layout->besideShare * room);
        resizeDocks({docksOf(PanelArea::Curves).front(), docksOf(PanelArea::Tables).front()},
                    {static_cast<int>(room) - tables, tables}, Qt::Horizontal);
    }
}

bool Workspace::rearrange(const QByteArray& state, const std::optional<DockExtents>& extents)
{
    if (!restoreState(state)) {
        return false;
    }
    showConfusion(); // the state may be that of another project
    m_keeper.want(extents.value_or(DockExtents{}));
    return true;
}

/// Detects drags of borders between docks, which have no signal.
bool Workspace::event(QEvent* event)
{
    const bool done = QMainWindow::event(event);
    if (event->type() == QEvent::MouseButtonRelease) {
        m_keeper.noticeDrag();
    } else if (event->type() == QEvent::Show) {
        m_keeper.apply(); // the window may have been resized while this was hidden
    }
    return done;
}

void Workspace::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    m_keeper.apply();
}

/// Returns the dock with the focus, or else the one in front below the canvases.
QDockWidget* Workspace::dockInFront() const
{
    for (QDockWidget* dock : m_docks) {
        if (dock->isAncestorOf(QApplication::focusWidget())) {
            return dock;
        }
    }
    for (const Panel& panel : panels()) {
        if (panel.isBelow() && !dockOf(panel)->visibleRegion().isEmpty()) {
            return dockOf(panel);
        }
    }
    return nullptr;
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
    return plot ? plot : qobject_cast<visualizers::PlotView*>(docksOf(PanelArea::Curves).front()->widget());
}

void Workspace::showPanelOf(const QWidget& view)
{
    const auto holds = [&](const QDockWidget* dock) { return dock->isAncestorOf(&view); };
    QDockWidget* dock = *std::ranges::find_if(m_docks, holds);
    dock->show();
    dock->raise();
}

void Workspace::showPalette()
{
    showPanelOf(view<PaletteView>());
    view<PaletteView>().focusSearch();
}

CanvasWidget* Workspace::frontCanvas() const
{
    for (CanvasWidget* canvas : canvases()) {
        if (m_centre->currentWidget() == canvas || m_centre->currentWidget()->isAncestorOf(canvas)) {
            return canvas;
        }
    }
    return nullptr;
}

WorkspaceView Workspace::frontView() const
{
    const CanvasWidget* const canvas = frontCanvas();
    return canvas == nullptr    ? WorkspaceView::Schedule
           : canvas == m_matrix ? WorkspaceView::Matrix
           : canvas == m_block  ? WorkspaceView::Block
                                : WorkspaceView::Depth;
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
    CanvasWidget* const canvas = frontCanvas();
    QWidget* const keys = canvas ? canvas->surface() : m_schedule;
    keys->setFocus();
}

/// Hides title bars below tabs, which show the same name.
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
    for (QTabBar* tabs :
         findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) { // the layout makes them when it needs them
        tabs->setElideMode(Qt::ElideNone);
        tabs->setUsesScrollButtons(true);
    }
}

void Workspace::setExportChoice(const visualizers::ExportChoice& choice)
{
    for (visualizers::PlotView* plot : findChildren<visualizers::PlotView*>()) {
        plot->setExportChoice(choice);
    }
}

void Workspace::applyTheme()
{
    const ThemeKind kind = m_look.theme().kind();
    for (CanvasWidget* canvas : canvases()) {
        canvas->setTheme(kind);
    }
    m_runsModel.setTheme(kind);
    for (visualizers::PlotView* plot : findChildren<visualizers::PlotView*>()) {
        plot->setTheme(kind);
    }
}

} // namespace residua::app
