// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/inspector/inspector.h"
#include "app/workspace/workspace.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"
#include "projects/studies/settings_between.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>

#include <string>
#include <utility>
#include <vector>

namespace residua::app {

namespace {

class CopyCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(CopyCommands)
public:
    explicit CopyCommands(const WindowParts& parts);

private:
    void copyChange();
    void copyUnsaved();
    void copyField(const Property& property);
    void copy(const Result<std::vector<std::string>>& settings);
    void follow();

    projects::ProjectSnapshot m_now;    ///< the project after the last change
    projects::ProjectSnapshot m_before; ///< the project before it; null: there was no change
};

} // namespace

CopyCommands::CopyCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(m_actions.copyChange, &QAction::triggered, this, &CopyCommands::copyChange);
    connect(m_actions.copyUnsaved, &QAction::triggered, this, &CopyCommands::copyUnsaved);
    connect(&m_workspace.view<Inspector>(), &Inspector::copyRequested, this, &CopyCommands::copyField);
    connect(&m_session, &DocumentSession::changed, this, &CopyCommands::follow);
    connect(&m_session, &DocumentSession::opened, this, [this] {
        m_before = nullptr;
        m_now = m_session.isOpen() ? m_session.history().projectSnapshot() : nullptr;
    });
}

void CopyCommands::follow()
{
    projects::ProjectSnapshot now = m_session.history().projectSnapshot();
    if (now != m_now) {
        m_before = std::exchange(m_now, std::move(now));
    }
}

void CopyCommands::copyChange()
{
    finishTyping();
    copy(m_before ? settingsBetween(*m_before, *m_now) : Error{"", tr("Nothing has been changed yet.").toStdString()});
}

void CopyCommands::copyUnsaved()
{
    finishTyping();
    if (m_session.isDraft()) {
        copy(std::vector<std::string>());
        return;
    }
    const Result<projects::Document> saved = projects::loadProject(m_session.directory());
    copy(saved ? settingsBetween(saved->project, m_session.wholeProject())
               : Result<std::vector<std::string>>(saved.error()));
}

void CopyCommands::copyField(const Property& property)
{
    const std::string pointer = projects::pointerOfView(m_session.shownTower(), property.pointer);
    if (const auto setting = projects::settingAt(m_session.wholeProject(), pointer)) {
        copy(std::vector<std::string>{*setting});
    }
}

void CopyCommands::copy(const Result<std::vector<std::string>>& settings)
{
    if (m_session.isDraft()) {
        refuse(tr("Save the project first: a command names its folder."));
        return;
    }
    if (settings && settings->empty()) {
        note(tr("Nothing but places on the canvas differs, which no command sets."));
        return;
    }
    const Result<std::string> command =
        settings ? projects::setCommand(m_session.directory(), *settings) : Result<std::string>(settings.error());
    if (!command) {
        refuse(QString::fromStdString(command.error().text()));
        return;
    }
    QApplication::clipboard()->setText(QString::fromStdString(*command));
    note(tr("Copied a terminal command that sets %n values", nullptr, static_cast<int>(settings->size())));
}

void addCopyCommands(const WindowParts& parts)
{
    new CopyCommands(parts);
}

} // namespace residua::app
