// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/panel_mark.h"

#include "app/workspace/panel_cycle.h"
#include "app/workspace/workspace.h"

#include <QApplication>
#include <QFocusEvent>
#include <QPainter>

namespace residua::app {

namespace {

constexpr int kThickness = 2; ///< pixels

} // namespace

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
