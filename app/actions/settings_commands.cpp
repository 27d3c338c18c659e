// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/runs/runs_panel.h"
#include "app/views/document_views.h"
#include "app/views/run_settings_dialog.h"
#include "app/workspace/workspace.h"
#include "engine/results/run_reader.h"

#include <QCoreApplication>
#include <QPointer>

#include <filesystem>
#include <string>
#include <utility>

namespace residua::app {
namespace {

class SettingsCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(SettingsCommands)
public:
    explicit SettingsCommands(const WindowParts& parts);

private:
    void ask(const std::string& run);
    void open(const QString& run, projects::Project trained);

    QPointer<RunSettingsDialog> m_dialog;
};

} // namespace

SettingsCommands::SettingsCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connect(&m_workspace.view<RunsPanel>(), &RunsPanel::settingsRequested, this, &SettingsCommands::ask);
    connect(&m_session, &DocumentSession::changed, this, [this] {
        if (m_dialog) {
            m_dialog->setDocument(m_session.document());
        }
    });
    connect(&m_session, &DocumentSession::opened, this, [this] {
        if (m_dialog) {
            m_dialog->close(); // it is about a run of the project that was open
        }
    });
}

void SettingsCommands::ask(const std::string& run)
{
    const engine::RunInfo* info = m_workspace.runsModel().runAt(m_workspace.runsModel().indexOf(run));
    const QString name = QString::fromStdString(info ? info->name : std::filesystem::path(run).filename().string());
    inBackground(
        this,
        [run]() -> Result<projects::Project> {
            const auto reader = engine::RunReader::open(run);
            return reader ? reader->project() : Result<projects::Project>(reader.error());
        },
        [this, name, place = m_session.directory()](Result<projects::Project> trained) {
            if (place != m_session.directory()) {
                return; // another project is open meanwhile
            }
            if (trained) {
                open(name, *std::move(trained));
            } else {
                refuse(QString::fromStdString(trained.error().text()));
            }
        });
}

void SettingsCommands::open(const QString& run, projects::Project trained)
{
    if (m_dialog) {
        m_dialog->close();
    }
    m_dialog = new RunSettingsDialog(run, std::move(trained), m_look, m_window);
    m_dialog->setDocument(m_session.document());
    connect(m_dialog, &RunSettingsDialog::editRequested, this,
            [this](const projects::Edit& edit) { m_documents.applyEdit(edit); });
    m_dialog->show();
}

void addSettingsCommands(const WindowParts& parts)
{
    new SettingsCommands(parts);
}

} // namespace residua::app
