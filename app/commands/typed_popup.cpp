// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/typed_popup.h"

#include <QCoreApplication>
#include <QDockWidget>
#include <QKeyEvent>

#include <algorithm>

namespace residua::app {

TypedPopup::TypedPopup(QWidget* host) : QFrame(host)
{
    m_field->installEventFilter(this);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setHeaderHidden(true);
    m_list->setFocusPolicy(Qt::NoFocus); // the arrow keys move the current row from the field
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    connect(m_list, &QTreeView::clicked, this, [this] {
        rowChosen();
        take();
    });
    hide();
}

void TypedPopup::popUp(const QRect& place, QWidget* back)
{
    m_back = back;
    QWidget* host = parentWidget();
    // A part of the window is below docks that float, so the popup must be a window of its own.
    const bool apart = std::ranges::any_of(host->findChildren<QDockWidget*>(), [](const QDockWidget* dock) {
        return dock->isFloating() && dock->isVisible();
    });
    setWindowFlags(apart ? Qt::Tool | Qt::FramelessWindowHint : Qt::Widget);
    setGeometry(apart ? QRect(host->mapToGlobal(place.topLeft()), place.size()) : place);
    show();
    raise();
    if (apart) {
        activateWindow();
    }
    m_field->setFocus(Qt::PopupFocusReason);
}

void TypedPopup::leave()
{
    hide();
    if (m_back) {
        m_back->setFocus(Qt::PopupFocusReason);
    }
}

bool TypedPopup::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::FocusOut && isVisible()) {
        hide();
    }
    if (event->type() == QEvent::ShortcutOverride) {
        event->accept();
        return true;
    }
    if (event->type() != QEvent::KeyPress) {
        return QFrame::eventFilter(watched, event);
    }
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
        leave();
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        take();
        return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        rowChosen();
        QCoreApplication::sendEvent(m_list, event);
        return true;
    default:
        return QFrame::eventFilter(watched, event);
    }
}

} // namespace residua::app
