// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/finish_typing.h"

#include <QApplication>
#include <QWidget>

namespace residua::app {

void finishTyping(const QWidget& window)
{
    if (QWidget* field = QApplication::focusWidget(); field && window.isAncestorOf(field)) {
        field->clearFocus();
        field->setFocus(Qt::OtherFocusReason);
    }
}

} // namespace residua::app
