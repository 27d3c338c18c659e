// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/fetch_commands.h"

#include "app/look/format.h"
#include "app/runs/runs_panel.h"
#include "app/workspace/workspace.h"

#include <algorithm>

namespace residua::app {

FetchCommands::FetchCommands(const WindowParts& parts) : CommandGroup(parts)
{
    m_workspace.view<RunsPanel>().addCommand(
        "run:fetch", RunsPanel::When::Elsewhere,
        {tr("Fetch a checkpoint…"), tr("Copy a checkpoint of a run that trains on another machine to this one")}, this,
        [this](const std::string& run) { ask(run); });
    connect(&m_session, &DocumentSession::opened, this, [this] {
        if (m_dialog) {
            m_dialog->reject(); // it is about a run of the project that was open
        }
    });
}

void FetchCommands::ask(const std::string& run, const Next& next, const QString& reason)
{
    inBackground(
        this, [run] { return readGoOnSource(run); },
        [this, next, reason, project = m_session.directory()](Result<GoOnSource> source) {
            if (project != m_session.directory()) {
                return; // another project has been opened meanwhile
            }
            const bool isDistant = source && !source->distant.steps.empty();
            if (isDistant) {
                open(*std::move(source), next);
            }
            if (isDistant && !reason.isEmpty()) {
                m_dialog->refuse(reason);
            } else if (!isDistant && (!reason.isEmpty() || !source)) {
                refuse(reason.isEmpty() ? QString::fromStdString(source.error().text()) : reason);
            } else if (!isDistant) {
                note(tr("Every checkpoint of this run is on this machine"));
            }
        });
}

void FetchCommands::need(const std::string& run, std::int64_t step, const Next& next)
{
    inBackground(
        this, [run] { return readGoOnSource(run); },
        [this, step, next](Result<GoOnSource> source) {
            if (!source || !std::ranges::binary_search(source->distant.steps, step)) {
                next(true); // an unreadable run is refused by what reads it next
                return;
            }
            open(*std::move(source), next);
            m_dialog->choose(step);
        });
}

QString FetchCommands::notFetched(std::int64_t step)
{
    return tr("The checkpoint of step %1 was not fetched.").arg(formatWhole(step));
}

void FetchCommands::open(GoOnSource source, Next next)
{
    if (m_dialog) {
        m_dialog->reject();
    }
    m_next = std::move(next);
    m_dialog = new FetchDialog(std::move(source), m_window);
    connect(m_dialog, &FetchDialog::chosen, this, [this](const engine::FetchCheckpoint& request) {
        m_fetch = m_engine.ask(
            request, m_dialog,
            [this](const engine::CheckpointFetched& fetched) {
                m_dialog->accept();
                note(tr("The checkpoint of step %1 is here, %2")
                         .arg(formatWhole(fetched.step), formatBytes(static_cast<double>(fetched.bytes))));
                finish(true);
            },
            [this](const engine::QueryFailed& failed) {
                m_dialog->refuse(QString::fromStdString(failed.error.text()));
            },
            [this](const engine::QueryProgress& progress) { m_dialog->setShare(progress.share); });
    });
    connect(m_dialog, &QDialog::rejected, this, [this] {
        m_engine.drop(m_fetch);
        finish(false);
    });
    m_dialog->show();
}

void FetchCommands::finish(bool here)
{
    if (const Next next = std::exchange(m_next, {})) {
        next(here);
    }
}

} // namespace residua::app
