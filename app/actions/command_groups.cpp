// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/workspace/banner.h"
#include "app/workspace/status_line.h"

#include <QApplication>
#include <QWidget>

namespace residua::app {

CommandGroup::CommandGroup(const WindowParts& parts) : QObject(parts.window), m_parts(parts) {}

void CommandGroup::refuse(const QString& reason)
{
    m_banner.refuse(reason);
}

void CommandGroup::note(const QString& text)
{
    m_status.note(text);
}

std::string CommandGroup::selectedTower() const
{
    return m_session.isOpen() && m_session.shownTower() > 0 ? m_session.project().network.name : std::string();
}

void CommandGroup::finishTyping() const
{
    if (QWidget* field = QApplication::focusWidget(); field && m_window->isAncestorOf(field)) {
        field->clearFocus();
        field->setFocus(Qt::OtherFocusReason);
    }
}

} // namespace residua::app
