// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/view_commands.h"

#include "app/actions/window_actions.h"
#include "app/canvas/canvas_widget.h"
#include "app/look/theme.h"
#include "app/views/live_views.h"
#include "app/workspace/panel_cycle.h"
#include "app/workspace/workspace.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/plot_view.h"

#include <utility>

namespace residua::app {

ViewCommands::ViewCommands(const WindowActions& actions, Look& look, Workspace& workspace, LiveViews& live,
                           QObject* parent)
    : QObject(parent), m_workspace(workspace)
{
    actions.theme->setChecked(look.theme().kind() == ThemeKind::Dark);
    connect(actions.theme, &QAction::toggled, this,
            [&look](bool dark) { look.setKind(dark ? ThemeKind::Dark : ThemeKind::Light); });
    connect(actions.rowShares, &QAction::toggled, &live, &LiveViews::setRowShares);
    connectCanvases(actions);
    connectPanels(actions);
    connectValues(actions);
}

/// Canvases and heatmap share one choice of the values that they show.
void ViewCommands::connectValues(const WindowActions& actions)
{
    using visualizers::CellValue;
    visualizers::ShownMatrices& matrices = m_workspace.shownMatrices();
    const std::pair<QAction*, CellValue> values[] = {{actions.showWeights, CellValue::Weight},
                                                     {actions.showChanges, CellValue::SinceStart},
                                                     {actions.showLogs, CellValue::LogOfRowMax}};
    for (const auto& [action, value] : values) {
        const auto check = [&matrices, action = action, value = value] {
            action->setChecked(matrices.value() == value);
        };
        connect(action, &QAction::triggered, &matrices, [&matrices, check, value = value] {
            matrices.setValue(value);
            check(); // choosing the same value again does not clear it
        });
        connect(&matrices, &visualizers::ShownMatrices::changed, action, check);
        check();
    }
}

void ViewCommands::connectCanvases(const WindowActions& actions)
{
    connect(actions.fit, &QAction::triggered, this, &ViewCommands::fit);
    connect(actions.zoomToSelection, &QAction::triggered, this, &ViewCommands::zoomToSelection);
    const std::pair<QAction*, WorkspaceView> canvases[] = {{actions.depth, WorkspaceView::Depth},
                                                           {actions.matrix, WorkspaceView::Matrix},
                                                           {actions.block, WorkspaceView::Block},
                                                           {actions.schedule, WorkspaceView::Schedule}};
    for (const auto& [action, view] : canvases) {
        connect(action, &QAction::triggered, this, [this, view = view] { m_workspace.showCanvas(view); });
    }
}

void ViewCommands::connectPanels(const WindowActions& actions)
{
    connect(actions.palette, &QAction::triggered, &m_workspace, &Workspace::showPalette);
    connect(actions.nextPanel, &QAction::triggered, this, [this] { focusPanel(m_workspace, PanelStep::Next); });
    connect(actions.previousPanel, &QAction::triggered, this, [this] { focusPanel(m_workspace, PanelStep::Previous); });
    connect(actions.floatPanel, &QAction::triggered, &m_workspace, &Workspace::toggleFloating);
    connect(actions.exportPlot, &QAction::triggered, this, [this] { m_workspace.plotInFront()->askExport(); });
    for (const auto& [action, layout] : actions.layouts) {
        connect(action, &QAction::triggered, this, [this, layout = layout] { m_workspace.applyLayout(*layout); });
    }
}

void ViewCommands::fit()
{
    if (CanvasWidget* const front = m_workspace.frontCanvas()) {
        front->fit();
    }
}

void ViewCommands::zoomToSelection()
{
    if (CanvasWidget* const front = m_workspace.frontCanvas()) {
        front->passOn();
        front->canvas().show(editor::Extent::Selection);
        front->refresh();
    }
}

} // namespace residua::app
