// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of the main window do.
#include "app/window/main_window.h"

#include "app/actions/canvas_actions.h"
#include "app/actions/edit_commands.h"
#include "app/actions/sweep_commands.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/commands.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_items.h"
#include "app/palette/palette_view.h"
#include "app/properties/customisation.h"
#include "app/runs/queue_strip.h"
#include "app/runs/run_bar.h"
#include "app/runs/run_comparison.h"
#include "app/runs/runs_panel.h"
#include "app/start/recent_projects.h"
#include "app/start/start_page.h"
#include "app/sweeps/sweep_panel.h"
#include "app/views/document_views.h"
#include "app/views/run_follower.h"
#include "app/workspace/banner.h"
#include "app/workspace/panel_cycle.h"
#include "projects/library/examples.h"
#include "projects/library/schedule_presets.h"
#include "visualizers/plot/plot_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDockWidget>
#include <QFileDialog>
#include <QLayout>
#include <QMenu>
#include <QMessageBox>
#include <QSettings>
#include <QStackedWidget>

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::app {

namespace {

const QString kThemeKey = QStringLiteral("window/dark");

} // namespace

void MainWindow::connectFile()
{
    const auto example = [this](const QString& name) {
        if (const Status opened = openExample(name.toStdString()); !opened) {
            refuse(QString::fromStdString(opened.error().text()));
        }
    };
    connect(m_actions.create, &QAction::triggered, this, &MainWindow::askForNew);
    connect(m_actions.open, &QAction::triggered, this, &MainWindow::chooseAndOpen);
    connect(m_actions.import, &QAction::triggered, this, &MainWindow::askForModel);
    connect(m_actions.save, &QAction::triggered, this, &MainWindow::save);
    connect(m_actions.saveAs, &QAction::triggered, this, &MainWindow::saveAs);
    connect(m_actions.revert, &QAction::triggered, this, [this] {
        m_banner->hide();
        loadFiles(tr("Go back to the saved version"));
    });
    connect(m_actions.startPage, &QAction::triggered, this, &MainWindow::showStartPage);
    connect(m_actions.quit, &QAction::triggered, this, &QWidget::close);
    connect(m_start, &StartPage::exampleChosen, this, example);
    connect(m_start, &StartPage::newRequested, this, &MainWindow::askForNew);
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseAndOpen);
    connect(m_start, &StartPage::projectChosen, this,
            [this](const QString& folder) { openProject(folder.toStdString()); });
    connect(m_start, &StartPage::draftChosen, this, &MainWindow::takeUpDraft);
    connect(m_start, &StartPage::draftDiscarded, this, &MainWindow::moveDraftToTrash);
    connect(m_menus.recent, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    fillExamples();

    connect(&m_session, &DocumentSession::opened, this, &MainWindow::onOpened);
    connect(&m_session, &DocumentSession::stateChanged, this, &MainWindow::updateState);
    connect(&m_session, &DocumentSession::stateChanged, m_banner, &Banner::recheck);
    connect(&m_session, &DocumentSession::changed, this, &MainWindow::noticeAction);
    connect(&m_session, &DocumentSession::changedOnDisk, this, &MainWindow::offerReload);
    connect(&m_session, &DocumentSession::openElsewhere, this, [this] {
        m_banner->say(BannerKind::Note,
                      tr("This project is open in another window of Residua: the last to save wins."));
    });
    connect(&m_session, &DocumentSession::journalFailed, this, [this](const Error& error) {
        refuse(tr("Changes are not being kept: %1").arg(QString::fromStdString(error.text())));
    });
    connect(&m_session, &DocumentSession::draftKept, this, [this](const Error& error) {
        m_banner->say(
            BannerKind::Note,
            tr("The project's folder cannot be written. Unsaved changes are kept apart from it, and the start "
               "page offers them: %1")
                .arg(QString::fromStdString(error.text())),
            {{tr("Save to another folder…"), [this] { saveAs(); }}});
        m_banner->whileTrue([this] { return m_session.keepsDraft(); });
    });
}

void MainWindow::fillExamples()
{
    for (const projects::Example& example : projects::examples()) {
        QAction* action = m_menus.examples->addAction(QString::fromStdString(example.title));
        action->setStatusTip(QString::fromStdString(example.summary));
        connect(action, &QAction::triggered, this,
                [this, name = example.name] { static_cast<void>(openExample(name).ok()); });
    }
}

void MainWindow::fillRecent()
{
    m_menus.recent->clear();
    for (const QString& folder : recentProjects()) {
        QAction* action = m_menus.recent->addAction(QDir::toNativeSeparators(folder));
        connect(action, &QAction::triggered, this, [this, folder] { openProject(folder.toStdString()); });
    }
    if (m_menus.recent->isEmpty()) {
        m_menus.recent->addAction(tr("none yet"))->setEnabled(false);
    }
}

void MainWindow::connectEdit()
{
    connect(m_actions.undo, &QAction::triggered, &m_session, &DocumentSession::undo);
    connect(m_actions.redo, &QAction::triggered, &m_session, &DocumentSession::redo);
    connect(m_actions.prune, &QAction::triggered, m_editCommands, &EditCommands::deleteSelection);
    connect(m_actions.freeze, &QAction::triggered, m_editCommands, &EditCommands::toggleFrozen);
    connect(m_actions.selectAll, &QAction::triggered, m_editCommands, &EditCommands::selectAll);
    connect(m_actions.deselect, &QAction::triggered, m_editCommands, &EditCommands::giveUp);
    connect(m_actions.backToPreset, &QAction::triggered, this, [this] {
        if (const auto custom = customisationOf(m_session.project())) {
            m_documents->applyEdit(custom->goBack);
        }
    });
    connect(m_actions.fit, &QAction::triggered, this, [this] {
        if (CanvasWidget* const front = m_workspace->frontCanvas()) {
            front->fit();
        }
    });
    connect(m_actions.zoomToSelection, &QAction::triggered, this, [this] {
        if (CanvasWidget* const front = m_workspace->frontCanvas()) {
            front->passOn();
            front->canvas().show(editor::Extent::Selection);
            front->refresh();
        }
    });
    for (CanvasWidget* canvas : m_workspace->canvases()) {
        canvas->addActions(m_actions.ofCanvas());
    }
    m_workspace->view<OutlineView>().addActions({m_actions.prune, m_actions.freeze});
    connect(m_documents, &DocumentViews::refused, this, &MainWindow::refuse);
    connect(m_editCommands, &EditCommands::refused, this, &MainWindow::refuse);
    connect(m_editCommands, &EditCommands::availabilityChanged, this, &MainWindow::updateCanvasKeys);
    connect(m_documents, &DocumentViews::noted, this, &MainWindow::note);
    connect(m_documents, &DocumentViews::placeChanged, this, &MainWindow::updateCanvasKeys);
    connect(&m_analysis, &Analysis::updated, this, &MainWindow::updateStatus);
    connect(&m_workspace->view<PaletteView>(), &PaletteView::chosen, this,
            [this](const projects::DocumentChange& change) { note(QString::fromStdString(titleOf(change.edit))); });
    connect(m_runBar, &RunBar::topologyChosen, this, &MainWindow::chooseTopology);
}

void MainWindow::connectView()
{
    m_actions.theme->setChecked(m_look.theme().kind() == ThemeKind::Dark);
    connect(m_actions.theme, &QAction::toggled, this, [this](bool dark) {
        m_look.setKind(dark ? ThemeKind::Dark : ThemeKind::Light);
        if (m_memory == Memory::UserSettings) {
            QSettings().setValue(kThemeKey, dark);
        }
    });
    connect(m_actions.rowShares, &QAction::toggled, &m_runFollower->live(), &LiveViews::setRowShares);
    connect(m_actions.resetLayout, &QAction::triggered, this,
            [this] { m_workspace->arrange(WorkspaceView::Depth, m_workspace->size()); });
    connect(m_actions.palette, &QAction::triggered, m_workspace, &Workspace::showPalette);
    const std::pair<QAction*, WorkspaceView> canvases[] = {{m_actions.depth, WorkspaceView::Depth},
                                                           {m_actions.matrix, WorkspaceView::Matrix},
                                                           {m_actions.block, WorkspaceView::Block},
                                                           {m_actions.schedule, WorkspaceView::Schedule}};
    for (const auto& [action, view] : canvases) {
        connect(action, &QAction::triggered, m_workspace, [this, view = view] { m_workspace->showCanvas(view); });
    }
    connect(m_actions.nextPanel, &QAction::triggered, m_workspace,
            [this] { focusPanel(*m_workspace, PanelStep::Next); });
    connect(m_actions.previousPanel, &QAction::triggered, m_workspace,
            [this] { focusPanel(*m_workspace, PanelStep::Previous); });
    connect(m_actions.floatPanel, &QAction::triggered, m_workspace, &Workspace::toggleFloating);
    connect(m_actions.exportPlot, &QAction::triggered, this, [this] { m_workspace->plotInFront()->askExport(); });
    connect(m_actions.keys, &QAction::triggered, m_commands, &Commands::showKeys);
    connect(m_actions.commands, &QAction::triggered, this, [this] {
        fillRecent(); // the list of recent projects is otherwise filled only when its menu opens
        m_commands->showPalette();
    });
    connect(&m_commands->keys(), &KeyBindings::keysChanged, this, &MainWindow::updateCanvasKeys);
    if (m_memory == Memory::UserSettings) {
        m_commands->remember();
    }
    connect(m_actions.about, &QAction::triggered, this, &MainWindow::about);
    const std::pair<const char*, const char*> buttons[] = {
        {"startNew", "create"}, {"startOpen", "open"}, {"blockTidy", "tidy"}, {"blockSave", "saveBlock"}};
    for (const auto& [button, command] : buttons) {
        m_commands->explain(*findChild<QAbstractButton*>(QLatin1String(button)), QLatin1String(command));
    }
}

void MainWindow::connectRun()
{
    connect(m_actions.run.run, &QAction::triggered, &m_runs, [this] {
        finishTyping();
        m_runs.run();
    });
    connect(m_actions.run.pause, &QAction::triggered, &m_runs, &RunController::pause);
    connect(m_actions.run.step, &QAction::triggered, &m_runs, [this] {
        finishTyping();
        m_runs.step();
    });
    connect(m_actions.run.stop, &QAction::triggered, &m_runs, &RunController::stop);
    connect(&m_engine, &EngineBridge::devicesListed, m_runBar, &RunBar::setDevices);
    connect(&m_engine, &EngineBridge::devicesUnknown, this, [this](const QString& why) {
        m_runBar->setDevicesUnknown(why);
        // Does not replace a banner whose offer could not be reached again.
        if (!m_noDevicesTold && bannerText().isEmpty()) {
            m_noDevicesTold = true;
            refuse(why);
        }
    });
    connect(&m_runs, &RunController::ended, &m_engine, &EngineBridge::listDevices); // memory is free again
    connect(m_runBar, &RunBar::deviceChosen, this, [this](const engine::DeviceInfo& device) {
        m_workspace->view<Inspector>().cost().setDeviceMemory(static_cast<double>(device.totalBytes));
    });
    connect(&m_engine, &EngineBridge::noticed, this,
            [this](const engine::Notice& notice) { note(QString::fromStdString(notice.text)); });
    connect(&m_runs, &RunController::refused, this, &MainWindow::refuse);
    connect(&m_runs, &RunController::phaseChanged, this, &MainWindow::updateStatus);
    connect(&m_runs, &RunController::started, this, &MainWindow::noticeAction);
    connect(&m_runs, &RunController::savedTo, this, [this](const QString& folder) {
        note(tr("Saved to %1").arg(QDir::toNativeSeparators(folder)));
        remember(folder);
    });
    connect(&m_runs, &RunController::ended, this, [this](const engine::RunEnded& event) {
        if (event.status == engine::RunStatus::Finished) {
            note(tr("Trained %1 steps. Everything is in %2")
                     .arg(formatWhole(event.step), QString::fromStdString(m_runs.runDirectory().string())));
        } else if (event.status == engine::RunStatus::Stopped) {
            note(event.step > 0
                     ? tr("Stopped at step %1; it can be resumed from the list of runs").arg(formatWhole(event.step))
                     : tr("Stopped before the first step"));
        }
    });
}

/// Runs that wait for others, and the sweeps that fill the queue.
void MainWindow::connectQueue()
{
    connect(m_actions.enqueue, &QAction::triggered, &m_runs, [this] {
        finishTyping();
        m_runs.enqueue();
    });
    connect(m_actions.goOnWithQueue, &QAction::triggered, &m_runs, &RunController::goOnWithQueue);
    connect(m_actions.skip, &QAction::triggered, &m_runs, &RunController::skip);
    connect(m_actions.clearQueue, &QAction::triggered, &m_runs, &RunController::clearQueue);
    m_workspace->view<RunsPanel>().queue().follow(m_runs, m_actions.goOnWithQueue, m_actions.skip,
                                                  m_actions.clearQueue);
    connect(&m_runs, &RunController::queueTakenUp, this, [this](int count) {
        m_banner->say(BannerKind::Note, tr("%n runs were waiting in the queue when Residua ended.", nullptr, count),
                      {{tr("Go on with the queue"), [this] { m_actions.goOnWithQueue->trigger(); }},
                       {tr("Forget them"), [this] { m_actions.clearQueue->trigger(); }}});
    });
    connect(&m_runs, &RunController::queueChanged, this, &MainWindow::updateStatus);
    connect(&m_runs, &RunController::queueChanged, m_banner, &Banner::recheck);
    connect(&m_runs, &RunController::ended, this, [this](const engine::RunEnded& event) {
        // A failed run is reported by the banner itself; a finished one needs no message about the queue.
        if (event.status == engine::RunStatus::Stopped && m_runs.queueHeld()) {
            m_banner->say(BannerKind::Note,
                          tr("The run was stopped, and the queue with it: %n waiting.", nullptr,
                             static_cast<int>(m_runs.queued())),
                          {{tr("Go on with the queue"), [this] { m_actions.goOnWithQueue->trigger(); }}});
            m_banner->whileTrue([this] { return m_runs.queueHeld(); });
        }
    });
    connect(m_sweepCommands, &SweepCommands::refused, this, &MainWindow::refuse);
    connect(m_actions.sweep, &QAction::triggered, m_sweepCommands, &SweepCommands::begin);
}

/// What runs have left: their lists, reports and comparisons.
void MainWindow::connectRecords()
{
    connect(m_runFollower, &RunFollower::refused, this, &MainWindow::refuse);
    connect(m_runFollower, &RunFollower::rateKnown, &m_workspace->view<SweepPanel>(), &SweepPanel::setRate);
    connect(&m_archive, &RunArchive::refused, this, &MainWindow::refuse);
    connect(&m_archive, &RunArchive::reportWritten, this,
            [this](const QString& path) { note(tr("The report is in %1").arg(QDir::toNativeSeparators(path))); });
    connect(m_actions.exportReport, &QAction::triggered, this, &MainWindow::exportReport);
    connect(&m_workspace->view<RunsPanel>(), &RunsPanel::removeRequested, this, &MainWindow::askToTrash);
    connect(&m_workspace->view<RunsPanel>(), &RunsPanel::reportRequested, this, &MainWindow::exportReport);
    connect(&m_archive, &RunArchive::trashed, this, &MainWindow::offerBack);
    connect(&m_archive, &RunArchive::compared, this, [this](const std::shared_ptr<const RunComparison>& comparison) {
        (new RunComparisonDialog(*comparison, m_look.theme().kind(), this))->show();
    });
}

/// A value that is being typed is entered as if its field were left.
void MainWindow::finishTyping()
{
    if (QWidget* field = QApplication::focusWidget(); field && isAncestorOf(field)) {
        field->clearFocus();
        field->setFocus(Qt::OtherFocusReason);
    }
}

void MainWindow::chooseTopology(int index)
{
    const auto presets = projects::topologyChoices(m_session.project().network);
    const projects::TopologyPreset& preset = presets.at(static_cast<std::size_t>(index));
    const PaletteItem item{PaletteKind::Topology, preset.name, QString::fromStdString(preset.title), {}, {}};
    if (const auto change = takeUp(m_session.project(), m_documents->place(), item)) {
        m_documents->applyEdit(change->edit);
        note(QString::fromStdString(titleOf(change->edit))); // which says where blocks change with it
    }
    m_documents->choose(SectionPlace{Section::Topology});
    // Queued: the canvas would take the Return key that chose the topology as a command to open a block.
    QMetaObject::invokeMethod(
        this, [this] { m_workspace->canvas().surface()->setFocus(); }, Qt::QueuedConnection);
}

void MainWindow::exportReport()
{
    const RunsModel& runs = m_workspace->runsModel();
    const engine::RunInfo* run = runs.runAt(runs.indexOf(m_workspace->shownRuns().chosenOrFront()));
    if (run == nullptr) {
        refuse(tr("There is no run to report on: train the project first."));
        return;
    }
    const QString name = QString::fromStdString(run->name);
    const QString path = QFileDialog::getSaveFileName(this, tr("Export the report of %1").arg(name),
                                                      name + QStringLiteral(".html"), tr("Page (*.html)"));
    if (!path.isEmpty()) {
        m_archive.writeReport(run->directory, path);
    }
}

/// The run's own name; of several, how many.
QString MainWindow::namesOf(const std::vector<std::string>& runs) const
{
    return runs.size() == 1 ? QString::fromStdString(std::filesystem::path(runs.front()).filename().string())
                            : tr("%n runs", nullptr, static_cast<int>(runs.size()));
}

void MainWindow::askToTrash(const std::vector<std::string>& runs)
{
    m_banner->ask(tr("Move %1 to the trash?").arg(namesOf(runs)),
                  {{tr("Move to the trash"), [this, runs] { m_archive.trash(runs); }}, {tr("Keep"), [] {}}});
}

void MainWindow::offerBack(const std::vector<TrashedRun>& runs)
{
    std::vector<std::string> directories;
    std::ranges::transform(runs, std::back_inserter(directories), &TrashedRun::directory);
    m_banner->say(
        BannerKind::Note,
        runs.size() == 1 ? tr("%1 lies in the trash.").arg(namesOf(directories))
                         : tr("%1 lie in the trash.").arg(namesOf(directories)),
        {{runs.size() == 1 ? tr("Bring it back") : tr("Bring them back"), [this, runs] { m_archive.restore(runs); }}});
}

void MainWindow::about()
{
    QMessageBox box(this);
    box.setWindowTitle(tr("About Residua"));
    box.setIconPixmap(windowIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
    box.setText(tr("<b>Residua %1</b>").arg(QCoreApplication::applicationVersion()));
    box.setInformativeText(tr("A workbench for the depth topology of neural networks.\n"
                              "Free software under the GNU General Public License, version 3 or later."));
    box.exec();
}

} // namespace residua::app
