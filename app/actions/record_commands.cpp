// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/command_groups.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "app/look/theme.h"
#include "app/records/run_archive.h"
#include "app/runs/run_comparison_dialog.h"
#include "app/runs/runs_panel.h"
#include "app/sides/sides_panel.h"
#include "app/views/document_views.h"
#include "app/views/run_settings_dialog.h"
#include "app/workspace/banner.h"
#include "app/workspace/workspace.h"
#include "engine/runs/results/run_reader.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QPointer>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace residua::app {
namespace {

/// Nearly all room for the runs side by side.
constexpr Layout kSidesLayout{.name = "",
                              .title = "",
                              .toolTip = "",
                              .digit = 0,
                              .below = 0.8,
                              .left = false,
                              .right = false,
                              .beside = nullptr,
                              .besideShare = 0};

class RecordCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(RecordCommands)
public:
    explicit RecordCommands(const WindowParts& parts);

private:
    void showSides(const std::vector<std::string>& runs);
    void putDocksBack();
    void exportReport();
    void askToTrash(const std::vector<std::string>& runs);
    void offerBack(const std::vector<TrashedRun>& runs);

    RunArchive& m_archive;
    std::optional<std::pair<QByteArray, DockExtents>> m_docksBefore; ///< while runs are side by side
};

/// Returns the run's name, or the number of several runs.
QString namesOf(const std::vector<std::string>& runs)
{
    return runs.size() == 1 ? QString::fromStdString(std::filesystem::path(runs.front()).filename().string())
                            : RecordCommands::tr("%n runs", nullptr, static_cast<int>(runs.size()));
}

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

RecordCommands::RecordCommands(const WindowParts& parts) : CommandGroup(parts), m_archive(parts.archive)
{
    auto& panel = m_workspace.view<RunsPanel>();
    connect(&panel, &RunsPanel::compareRequested, &m_archive, &RunArchive::compare);
    connect(&panel, &RunsPanel::sidesRequested, this, &RecordCommands::showSides);
    SidesPanel& sides = m_workspace.view<SidesPanel>();
    connect(&sides, &SidesPanel::closed, this, [this, &panel] {
        putDocksBack();
        m_workspace.showPanelOf(panel);
    });
    connect(&m_session, &DocumentSession::opened, this, [this, &sides] { // of another project
        sides.setRuns({});
        putDocksBack();
    });
    connect(&panel, &RunsPanel::removeRequested, this, &RecordCommands::askToTrash);
    panel.addCommand("run:report", RunsPanel::When::Any,
                     {tr("Export the report…"), tr("Write the run's plots, heatmaps and tables as one page")}, this,
                     [this](const std::string& /*run*/) { exportReport(); });
    connect(m_actions.exportReport, &QAction::triggered, this, &RecordCommands::exportReport);
    connect(&m_archive, &RunArchive::refused, &m_banner, &Banner::refuse);
    connect(&m_archive, &RunArchive::trashed, this, &RecordCommands::offerBack);
    connect(&m_archive, &RunArchive::reportWritten, this,
            [this](const QString& path) { note(tr("The report is in %1").arg(QDir::toNativeSeparators(path))); });
    connect(&m_archive, &RunArchive::compared, this, [this](const std::shared_ptr<const RunComparison>& comparison) {
        const RunColours colours = coloursOf(*comparison, m_workspace.shownRuns());
        auto* dialog = new RunComparisonDialog(*comparison, colours, m_look.theme().kind(), m_window);
        connect(dialog, &RunComparisonDialog::sidesRequested, this, &RecordCommands::showSides);
        dialog->show();
    });
}

void RecordCommands::showSides(const std::vector<std::string>& runs)
{
    if (!m_docksBefore) {
        m_docksBefore.emplace(m_workspace.saveState(), m_workspace.dockExtents());
    }
    SidesPanel& sides = m_workspace.view<SidesPanel>();
    sides.setRuns(runs);
    m_workspace.applyLayout(kSidesLayout);
    m_workspace.showPanelOf(sides);
    sides.setFocus();
}

/// Puts the docks where they were before Side by side.
void RecordCommands::putDocksBack()
{
    if (m_docksBefore && !m_workspace.rearrange(m_docksBefore->first, m_docksBefore->second)) {
        m_workspace.applyLayout(layouts().front());
    }
    m_docksBefore.reset();
}

void RecordCommands::exportReport()
{
    const RunsModel& runs = m_workspace.runsModel();
    const engine::RunInfo* run = runs.runAt(runs.indexOf(m_workspace.shownRuns().chosenOrFront()));
    if (run == nullptr) {
        refuse(tr("There is no run to report on: train the project first."));
        return;
    }
    const std::string directory = run->directory; // a copy, because the list may be reloaded while the dialog is open
    const QString name = QString::fromStdString(run->name);
    const QString path = QFileDialog::getSaveFileName(m_window, tr("Export the report of %1").arg(name),
                                                      name + QStringLiteral(".html"), tr("Page (*.html)"));
    if (!path.isEmpty()) {
        m_archive.writeReport(directory, path);
    }
}

void RecordCommands::askToTrash(const std::vector<std::string>& runs)
{
    m_banner.ask(tr("Move %1 to the trash?").arg(namesOf(runs)),
                 {{tr("Move to the trash"), [this, runs] { m_archive.trash(runs); }}, {tr("Keep"), [] {}}});
}

void RecordCommands::offerBack(const std::vector<TrashedRun>& runs)
{
    std::vector<std::string> directories;
    std::ranges::transform(runs, std::back_inserter(directories), &TrashedRun::directory);
    m_banner.say(
        BannerKind::Note,
        runs.size() == 1 ? tr("%1 lies in the trash.").arg(namesOf(directories))
                         : tr("%1 lie in the trash.").arg(namesOf(directories)),
        {{runs.size() == 1 ? tr("Bring it back") : tr("Bring them back"), [this, runs] { m_archive.restore(runs); }}});
}

SettingsCommands::SettingsCommands(const WindowParts& parts) : CommandGroup(parts)
{
    m_workspace.view<RunsPanel>().addCommand(
        "run:settings", RunsPanel::When::Any,
        {tr("Wiring and settings…"),
         tr("Look at the wiring and the settings of this run, and use them in the project")},
        this, [this](const std::string& run) { ask(run); });
    connect(&m_session, &DocumentSession::changed, this, [this] {
        if (m_dialog) {
            m_dialog->setDocument(m_session.wholeDocument());
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
        this, [run] { return engine::readRunProject(run); },
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
    m_dialog->setDocument(m_session.wholeDocument());
    connect(m_dialog, &RunSettingsDialog::editRequested, this,
            [this](const projects::Edit& edit) { m_documents.applyWholeEdit(edit); });
    m_dialog->show();
}

void addRecordCommands(const WindowParts& parts)
{
    new RecordCommands(parts);
    new SettingsCommands(parts);
}

} // namespace residua::app
