// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/open_commands.h"
#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/runs/runs_panel.h"
#include "app/runs/weights_dialog.h"
#include "app/workspace/banner.h"
#include "app/workspace/workspace.h"

#include <QCoreApplication>
#include <QPointer>

#include <filesystem>
#include <optional>
#include <string>

namespace residua::app {

namespace {

class WeightsCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(WeightsCommands)
public:
    WeightsCommands(const WindowParts& parts, OpenCommands& open);

private:
    /// `source` is the proposed file or run; may be empty.
    void ask(WeightsDialog::Kind kind, const std::string& source);

    QPointer<WeightsDialog> m_dialog; ///< the open dialog
};

WeightsCommands::WeightsCommands(const WindowParts& parts, OpenCommands& open) : CommandGroup(parts)
{
    using Kind = WeightsDialog::Kind;
    connect(m_actions.teach, &QAction::triggered, this,
            [this] { ask(Kind::Teach, m_workspace.shownRuns().chosenOrFront()); });
    connect(m_actions.loadWeights, &QAction::triggered, this, [this] { ask(Kind::Load, {}); });
    connect(&open, &OpenCommands::tensorsGiven, this,
            [this](const std::filesystem::path& file) { ask(Kind::Load, file.string()); });
    m_workspace.view<RunsPanel>().addCommand(
        "run:teach", RunsPanel::When::Any,
        {tr("Teach a student with this run…"),
         tr("Make a run of the project that learns from the outputs of this trained network too")},
        this, [this](const std::string& run) { ask(Kind::Teach, run); });
    connect(&m_session, &DocumentSession::opened, this, [this] {
        if (m_dialog) {
            m_dialog->close(); // its tower and its run are those of the project that was open
        }
    });
}

void WeightsCommands::ask(WeightsDialog::Kind kind, const std::string& source)
{
    finishTyping();
    if (m_dialog) {
        m_dialog->close();
    }
    m_dialog = new WeightsDialog(
        m_engine, kind,
        [this]() -> std::optional<OntoProject> {
            if (!m_session.isOpen() || m_session.isDraft()) {
                return std::nullopt; // a draft has no folder for the run
            }
            return OntoProject{m_session.wholeProject(), m_session.directory(), selectedTower()};
        },
        m_window);
    if (!source.empty()) {
        m_dialog->setSource(QString::fromStdString(source));
    }
    connect(&m_session, &DocumentSession::changed, m_dialog, &WeightsDialog::forget);
    connect(m_dialog, &WeightsDialog::made, this, [this](const engine::LoadWeightsReady& made) {
        m_banner.say(BannerKind::Note,
                     tr("The run %1 of step 0 has these weights: resume, fork or retrofit it, for Run trains the "
                        "network from the start.")
                         .arg(QString::fromStdString(made.runDirectory.filename().string())));
    });
    m_dialog->show();
}

} // namespace

void addWeightsCommands(const WindowParts& parts, OpenCommands& open)
{
    new WeightsCommands(parts, open);
}

} // namespace residua::app
