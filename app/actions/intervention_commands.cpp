// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/fetch_commands.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/engine/engine_bridge.h"
#include "app/look/format.h"
#include "app/runs/intervention_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/session.h"

#include <QCoreApplication>
#include <QPointer>

#include <cstdint>
#include <string>
#include <utility>

namespace residua::app {

namespace {

class InterventionCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(InterventionCommands)
public:
    InterventionCommands(const WindowParts& parts, FetchCommands& fetch);

private:
    void ask(const std::string& run);
    void measure(const engine::InterventionRequest& request);
    void begin(const engine::InterventionRequest& request);

    FetchCommands& m_fetch;
    QPointer<InterventionDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_tag{};              ///< of the last request
};

} // namespace

InterventionCommands::InterventionCommands(const WindowParts& parts, FetchCommands& fetch)
    : CommandGroup(parts), m_fetch(fetch)
{
    connect(&m_workspace.view<RunsPanel>(), &RunsPanel::interventionsRequested, this, &InterventionCommands::ask);
    connect(&m_session, &DocumentSession::opened, this, [this] { // it is about a run of the project that was open
        if (m_dialog) {
            m_dialog->reject();
        }
    });
}

void InterventionCommands::ask(const std::string& run)
{
    inBackground(
        this, [run] { return readGoOnSource(run); },
        [this, project = m_session.directory()](Result<GoOnSource> source) {
            if (project != m_session.directory()) {
                return; // another project has been opened meanwhile
            }
            if (!source) {
                refuse(QString::fromStdString(source.error().text()));
                return;
            }
            if (m_dialog) {
                m_dialog->reject();
            }
            m_dialog = new InterventionDialog(std::move(*source), m_window);
            connect(m_dialog, &InterventionDialog::chosen, this, &InterventionCommands::measure);
            connect(m_dialog, &QDialog::rejected, this, [this] { m_engine.giveUp(std::exchange(m_tag, {})); });
            m_dialog->show();
        });
}

/// Fetches the checkpoint first if it is on another machine only.
void InterventionCommands::measure(const engine::InterventionRequest& request)
{
    const std::int64_t step = request.of.step.value_or(0);
    m_fetch.need(request.of.runDirectory.string(), step, [this, request, step, dialog = m_dialog](bool here) {
        if (!dialog || !dialog->isVisible()) {
            return; // it was closed meanwhile
        }
        if (here) {
            begin(request);
        } else {
            dialog->refuse(tr("The checkpoint of step %1 was not fetched.").arg(formatWhole(step)));
        }
    });
}

void InterventionCommands::begin(const engine::InterventionRequest& request)
{
    engine::InterventionRequest asked = request;
    asked.of.projectDirectory = m_session.directory();
    m_tag = m_engine.ask(
        std::move(asked), this,
        [dialog = m_dialog](const engine::InterventionReady& ready) {
            if (dialog && dialog->isVisible()) {
                dialog->showAnswer(ready);
            }
        },
        [dialog = m_dialog](const engine::QueryFailed& failed) {
            if (dialog && dialog->isVisible()) {
                dialog->refuse(QString::fromStdString(failed.error.text()));
            }
        },
        [dialog = m_dialog](const engine::QueryProgress& progress) {
            if (dialog && progress.share >= 0) {
                dialog->setShare(progress.share);
            }
        });
}

void addInterventionCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new InterventionCommands(parts, fetch);
}

} // namespace residua::app
