// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/panel_cycle.h"

#include "app/canvas/canvas_widget.h"
#include "app/workspace/workspace.h"

#include <QApplication>
#include <QDockWidget>

#include <algorithm>
#include <iterator>
#include <vector>

namespace residua::app {

namespace {

bool canTakeKeys(const QWidget& widget)
{
    return widget.isVisible() && widget.isEnabled() && (widget.focusPolicy() & Qt::TabFocus) != 0;
}

/// Returns the widget of a panel that receives the focus, or null.
QWidget* entranceOf(QWidget& panel)
{
    if (QWidget* last = panel.focusWidget(); last && canTakeKeys(*last)) {
        return last;
    }
    if (canTakeKeys(panel)) {
        return &panel;
    }
    for (QWidget* next = panel.nextInFocusChain(); next != &panel; next = next->nextInFocusChain()) {
        if (panel.isAncestorOf(next) && canTakeKeys(*next)) {
            return next;
        }
    }
    return nullptr;
}

std::vector<QWidget*> entrances(Workspace& workspace)
{
    std::vector<QWidget*> found;
    CanvasWidget* const canvas = workspace.frontCanvas();
    found.push_back(canvas && canvas->isVisible() ? canvas->surface() : entranceOf(*workspace.centralWidget()));
    for (QDockWidget* dock : workspace.docks()) {
        if (!dock->visibleRegion().isEmpty()) {
            found.push_back(entranceOf(*dock->widget()));
        }
    }
    std::erase(found, nullptr);
    return found;
}

} // namespace

QWidget* panelOf(const Workspace& workspace, const QWidget* widget)
{
    const auto holds = [widget](const QWidget* panel) { return panel == widget || panel->isAncestorOf(widget); };
    const auto dock = std::ranges::find_if(workspace.docks(), holds);
    return dock != workspace.docks().end()    ? (*dock)->widget()
           : holds(workspace.centralWidget()) ? workspace.centralWidget()
                                              : nullptr;
}

void focusPanel(Workspace& workspace, PanelStep step)
{
    const std::vector<QWidget*> ways = entrances(workspace);
    if (ways.empty()) {
        return;
    }
    const QWidget* focused = QApplication::focusWidget();
    const QWidget* from = focused ? panelOf(workspace, focused) : nullptr;
    const auto here =
        std::ranges::find_if(ways, [&](const QWidget* way) { return from && panelOf(workspace, way) == from; });
    const std::ptrdiff_t count = std::ssize(ways);
    const std::ptrdiff_t at = here == ways.end() ? -1 : here - ways.begin();
    const std::ptrdiff_t next = at < 0 ? 0 : (at + (step == PanelStep::Next ? 1 : count - 1)) % count;
    ways[static_cast<std::size_t>(next)]->setFocus(step == PanelStep::Next ? Qt::TabFocusReason
                                                                           : Qt::BacktabFocusReason);
}

} // namespace residua::app
