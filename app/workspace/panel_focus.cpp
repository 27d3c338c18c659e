// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/panel_focus.h"

#include "app/canvas/canvas_widget.h"
#include "app/workspace/workspace.h"

#include <QApplication>
#include <QDockWidget>
#include <QFocusEvent>
#include <QPainter>

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

/// Returns the content of the dock that holds a widget, or the canvases; null if neither does.
QWidget* panelOf(const Workspace& workspace, const QWidget* widget)
{
    const auto holds = [widget](const QWidget* panel) { return panel == widget || panel->isAncestorOf(widget); };
    const auto dock = std::ranges::find_if(workspace.docks(), holds);
    return dock != workspace.docks().end()    ? (*dock)->widget()
           : holds(workspace.centralWidget()) ? workspace.centralWidget()
                                              : nullptr;
}

constexpr int kThickness = 2; ///< pixels

} // namespace

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

PanelMark::PanelMark(Workspace& workspace) : QWidget(&workspace), m_workspace(workspace)
{
    setObjectName(QStringLiteral("panelMark"));
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
    qApp->installEventFilter(this);
}

bool PanelMark::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusIn && watched->isWidgetType()) {
        follow(static_cast<QWidget&>(*watched), static_cast<QFocusEvent*>(event)->reason());
    } else if (event->type() == QEvent::MouseButtonPress) {
        hide();
    } else if (event->type() == QEvent::Resize && watched == m_panel.data() && isVisible()) {
        place();
    }
    return QWidget::eventFilter(watched, event);
}

void PanelMark::follow(QWidget& focused, Qt::FocusReason reason)
{
    if (reason == Qt::PopupFocusReason || reason == Qt::ActiveWindowFocusReason || reason == Qt::MenuBarFocusReason) {
        return; // the focus comes back to where it was
    }
    const bool byKey =
        reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
    m_panel = byKey && focused.window() == window() ? panelOf(m_workspace, &focused) : nullptr;
    setVisible(!m_panel.isNull());
    if (m_panel) {
        place();
    }
}

void PanelMark::place()
{
    setGeometry(QRect(m_panel->mapTo(&m_workspace, QPoint()), m_panel->size()));
    raise();
}

void PanelMark::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setPen(QPen(palette().color(QPalette::Link), kThickness, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    const double half = kThickness / 2.0;
    painter.drawRect(QRectF(rect()).adjusted(half, half, -half, -half));
}

} // namespace residua::app
