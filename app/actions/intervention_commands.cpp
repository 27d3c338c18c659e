// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/fetch_commands.h"
#include "app/runs/intervention_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/workspace/workspace.h"

#include <QCoreApplication>
#include <QPointer>

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

    FetchCommands& m_fetch;
    QPointer<InterventionDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_tag{};              ///< of the running request; 0: none
};

} // namespace

InterventionCommands::InterventionCommands(const WindowParts& parts, FetchCommands& fetch)
    : CommandGroup(parts), m_fetch(fetch)
{
    m_workspace.view<RunsPanel>().onCommand("run:interventions", this, [this](const std::string& run) { ask(run); });
    connect(&m_session, &DocumentSession::opened, this, [this] { // it is about a run of the project that was open
        if (m_dialog) {
            m_dialog->reject();
        }
    });
}

void InterventionCommands::ask(const std::string& run)
{
    m_fetch.read([run] { return readGoOnSource(run); },
                 [this](GoOnSource source) {
                     if (m_dialog) {
                         m_dialog->reject();
                     }
                     m_dialog = new InterventionDialog(std::move(source), m_window);
                     connect(m_dialog, &InterventionDialog::chosen, this,
                             [this](const engine::InterventionRequest& request) {
                                 m_fetch.carryOut(request, m_dialog.data(), m_tag,
                                                  [dialog = m_dialog](const engine::InterventionReady& ready) {
                                                      if (dialog && dialog->isVisible()) {
                                                          dialog->showAnswer(ready);
                                                      }
                                                  });
                             });
                     connect(m_dialog, &QDialog::rejected, this, [this] { m_engine.giveUp(std::exchange(m_tag, {})); });
                     m_dialog->show();
                 });
}

void addInterventionCommands(const WindowParts& parts, FetchCommands& fetch)
{
    new InterventionCommands(parts, fetch);
}

} // namespace residua::app
