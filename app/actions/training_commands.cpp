// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/training_commands.h"

#include "app/actions/window_actions.h"
#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/look/format.h"
#include "app/runs/remotes_dialog.h"
#include "app/runs/run_bar.h"
#include "app/runs/runs_panel.h"
#include "app/training/run_controller.h"
#include "app/workspace/banner.h"
#include "app/workspace/status_line.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/session.h"
#include "engine/runs/results/remotes.h"
#include "engine/runs/results/run_reader.h"

#include <QActionGroup>
#include <QCoreApplication>
#include <QDir>
#include <QList>
#include <QMenu>
#include <QPointer>
#include <QString>

#include <algorithm>
#include <utility>

namespace residua::app {

TrainingCommands::TrainingCommands(const WindowParts& parts) : CommandGroup(parts)
{
    connectRun();
    connectQueue();
    connectDevices();
    connect(&m_controller, &RunController::ended, this, &TrainingCommands::tellEnded);
    enableQueue();
}

void TrainingCommands::connectRun()
{
    connect(m_actions.run.run, &QAction::triggered, this, [this] {
        finishTyping();
        m_controller.run();
    });
    connect(m_actions.run.pause, &QAction::triggered, &m_controller, &RunController::pause);
    connect(m_actions.run.step, &QAction::triggered, this, [this] {
        finishTyping();
        m_controller.step();
    });
    connect(m_actions.run.stop, &QAction::triggered, &m_controller, &RunController::stop);
    connect(&m_controller, &RunController::refused, &m_banner, &Banner::refuse);
    connect(&m_controller, &RunController::started, &m_banner, &Banner::noticeAction);
    connect(&m_controller, &RunController::phaseChanged, &m_banner, &Banner::recheck);
    connect(&m_controller, &RunController::heldUp, this, &TrainingCommands::tellHeldUp);
    connect(&m_controller, &RunController::savedTo, this,
            [this](const QString& folder) { note(tr("Saved to %1").arg(QDir::toNativeSeparators(folder))); });
    connect(&m_engine, &EngineBridge::noticed, this,
            [this](const engine::Notice& notice) { note(QString::fromStdString(notice.text)); });
    followPreparation();
}

/// The last notice of how far the preparation is does not outlive it.
void TrainingCommands::followPreparation()
{
    connect(&m_engine, &EngineBridge::noticed, this, [this](const engine::Notice& notice) {
        const QString text = QString::fromStdString(notice.text);
        m_preparing = text.endsWith(QLatin1Char('%')) ? text : QString();
    });
    connect(&m_controller, &RunController::phaseChanged, this, [this] {
        if (m_controller.phase() != RunPhase::Starting && !m_preparing.isEmpty()) {
            m_status.withdraw(std::exchange(m_preparing, QString()));
        }
    });
}

void TrainingCommands::connectQueue()
{
    connect(m_actions.enqueue, &QAction::triggered, this, [this] {
        finishTyping();
        m_controller.enqueue();
    });
    connect(m_actions.goOnWithQueue, &QAction::triggered, &m_controller, &RunController::goOnWithQueue);
    connect(m_actions.skip, &QAction::triggered, &m_controller, &RunController::skip);
    connect(m_actions.clearQueue, &QAction::triggered, &m_controller, &RunController::clearQueue);
    m_workspace.view<RunsPanel>().queue().follow(m_controller, m_actions.goOnWithQueue, m_actions.skip,
                                                 m_actions.clearQueue);
    connect(&m_controller, &RunController::queueTakenUp, this, &TrainingCommands::tellTakenUp);
    connect(&m_controller, &RunController::phaseChanged, this, &TrainingCommands::enableQueue);
    connect(&m_controller, &RunController::queueChanged, this, &TrainingCommands::enableQueue);
    connect(&m_controller, &RunController::queueChanged, &m_banner, &Banner::recheck);
}

void TrainingCommands::connectDevices()
{
    connect(&m_engine, &EngineBridge::placeChanged, this, &TrainingCommands::listDevices);
    connect(&m_controller, &RunController::ended, this, &TrainingCommands::listDevices); // memory is free again
    connect(&m_bar, &RunBar::deviceChosen, this, [this](const engine::DeviceInfo& device) {
        m_workspace.view<Inspector>().cost().setDevice(
            {projects::deviceKindOf(device.key), static_cast<double>(device.totalBytes)});
    });
}

void TrainingCommands::listDevices()
{
    m_engine.ask(
        engine::ListDevices{}, this, [this](const engine::DevicesListed& listed) { m_bar.setDevices(listed.devices); },
        [this](const engine::QueryFailed& failed) { // usually because there is no engine
            const QString why = QString::fromStdString(failed.error.text());
            m_bar.setDevicesUnknown(why);
            // Does not replace a banner whose offer the user could not reach otherwise.
            if (!m_noDevicesTold && m_banner.text().isEmpty()) {
                m_noDevicesTold = true;
                m_banner.refuse(why);
            }
        });
}

void TrainingCommands::enableQueue()
{
    const bool queue = m_controller.queued() > 0;
    const RunPhase phase = m_controller.phase();
    m_actions.clearQueue->setEnabled(queue);
    m_actions.goOnWithQueue->setEnabled(queue && phase == RunPhase::Idle);
    m_actions.skip->setEnabled(queue && (phase == RunPhase::Running || phase == RunPhase::Paused));
}

/// Reports a failed run as an error.
void TrainingCommands::tellEnded(const engine::RunEnded& event)
{
    if (!event.unrecorded.empty()) {
        m_banner.refuse(tr("The run has ended where it trains, but its record on this machine is incomplete: %1. Make "
                           "room, then resume it from the list of runs.")
                            .arg(QString::fromStdString(event.unrecorded)));
    } else if (event.status == engine::RunStatus::Finished) {
        note(
            (event.step == 1 ? tr("Trained %1 step. Everything is in %2") : tr("Trained %1 steps. Everything is in %2"))
                .arg(formatWhole(event.step), QString::fromStdString(m_controller.runDirectory().string())));
    } else if (event.status == engine::RunStatus::Stopped) {
        note(event.step > 0
                 ? tr("Stopped at step %1; it can be resumed from the list of runs").arg(formatWhole(event.step))
                 : tr("Stopped before the first step"));
        if (m_controller.queueHeld()) {
            m_banner.say(BannerKind::Note,
                         tr("The run was stopped, and the queue with it: %n waiting.", nullptr,
                            static_cast<int>(m_controller.queued())),
                         {{tr("Go on with the queue"), [this] { m_actions.goOnWithQueue->trigger(); }}});
            m_banner.whileTrue([this] { return m_controller.queueHeld(); });
        }
    }
}

bool TrainingCommands::mayClose()
{
    const RunPhase phase = m_controller.phase();
    const bool trains = phase == RunPhase::Running || phase == RunPhase::Paused;
    const bool begins = phase == RunPhase::Starting;
    if ((!trains && !begins) || m_closes || m_engine.outlivesWindow()) {
        return true;
    }
    const engine::RunProgress& progress = m_controller.progress();
    std::vector<BannerChoice> choices{{tr("Stop it and leave"),
                                       [this] {
                                           m_closes = true;
                                           m_window->close();
                                       }},
                                      {tr("Stay"), [] {}}};
    if (trains) { // a run that begins has no checkpoint yet
        choices.push_back({tr("Leave it training"), [this] { leaveTraining(); }});
    }
    m_banner.ask(trains
                     ? tr("A run is under way: step %1 of %2. If Residua ends now, the run stops at a checkpoint and "
                          "can be resumed, or goes on in the background.")
                           .arg(formatWhole(progress.step), formatWhole(progress.steps))
                     : tr("A run is about to begin. If Residua ends now, it does not."),
                 std::move(choices));
    m_banner.whileTrue([this] { return m_controller.phase() != RunPhase::Idle; });
    return false;
}

/// Ends the run at a checkpoint, from which the background engine continues it, and closes the window.
void TrainingCommands::leaveTraining()
{
    const auto close = [this] {
        m_closes = true;
        m_window->close();
    };
    const auto goOn = [this, close](const engine::RunEnded& event) {
        if (event.hasFailed()) {
            return; // the banner says why
        }
        if (event.status != engine::RunStatus::Stopped) {
            close();
            return;
        }
        const std::filesystem::path run = m_controller.runDirectory();
        m_controller.setPlace(engine::backgroundRemote());
        connect(
            &m_controller, &RunController::started, this,
            [run, close](const std::filesystem::path& started) {
                if (started == run) { // else the background engine has another run, and the banner says so
                    close();
                }
            },
            Qt::SingleShotConnection);
        const engine::RunRef of{run, m_controller.runProject(), engine::OtherData::Refuse, event.step};
        static_cast<void>(m_controller.resume(ContinueRun{of, m_controller.progress().steps, {}}));
    };
    connect(&m_controller, &RunController::ended, this, goOn, Qt::SingleShotConnection);
    m_controller.stop();
}

void TrainingCommands::tellHeldUp(const engine::RunPaused& event)
{
    m_banner.ask(tr("The run is paused at step %1, because it cannot be written: %2. Nothing is lost while it waits: "
                    "make room, then go on.")
                     .arg(formatWhole(event.step), QString::fromStdString(event.error.text())),
                 {{tr("Go on"), [this] { m_controller.run(); }},
                  {tr("End it without this checkpoint"), [this] { m_controller.stop(); }}});
    m_banner.whileTrue([this] { return m_controller.phase() == RunPhase::Paused; });
}

void TrainingCommands::tellTakenUp(int count, const std::filesystem::path& project)
{
    m_banner.say(BannerKind::Note, tr("%n runs were waiting in the queue when Residua ended.", nullptr, count),
                 {{tr("Go on with the queue"), [this] { m_controller.goOnWithQueue(); }},
                  {tr("Forget them"), [this, project] { m_controller.forgetTakenUp(project); }}});
    m_banner.whileTrue([this, project] { return m_controller.hasTakenUp(project); });
}

namespace {

class RemoteCommands : public CommandGroup {
    Q_DECLARE_TR_FUNCTIONS(RemoteCommands)
public:
    explicit RemoteCommands(const WindowParts& parts);

private:
    void fill();
    QAction* add(const QString& text, const QString& toolTip, const engine::EngineRemote& place);
    void edit();
    void askFor(const engine::RemoteUnknown& unknown);
    void findRun();

    QMenu& m_menu;
    QActionGroup* m_choices;
    QAction* m_end = nullptr; ///< separates the places from the commands
    QList<QAction*> m_named;
    QPointer<UnknownRemoteDialog> m_unknown;
};

} // namespace

RemoteCommands::RemoteCommands(const WindowParts& parts)
    : CommandGroup(parts), m_menu(*m_menus.places), m_choices(new QActionGroup(this))
{
    m_menu.setToolTipsVisible(true);
    add(tr("This &window's engine"), tr("A run stops at a checkpoint when the window closes"), {})
        ->setObjectName(QStringLiteral("trainHere"));
    add(tr("The &background"), tr("A run continues when the window closes, and the next window finds it"),
        engine::backgroundRemote())
        ->setObjectName(QStringLiteral("trainInBackground"));
    m_bar.setPlaces(m_menu);
    m_end = m_menu.addSeparator();
    QAction* edit = m_menu.addAction(tr("&Edit places…"));
    edit->setObjectName(QStringLiteral("editPlaces"));
    edit->setToolTip(tr("Name the command lines that start an engine elsewhere"));
    connect(edit, &QAction::triggered, this, &RemoteCommands::edit);
    fill();
    connect(&m_menu, &QMenu::aboutToShow, this, &RemoteCommands::fill);
    connect(&m_engine, &EngineBridge::placeUnknown, this, &RemoteCommands::askFor);
    connect(&m_session, &DocumentSession::opened, this, &RemoteCommands::findRun);
}

/// Shows the named places, and which place is chosen.
void RemoteCommands::fill()
{
    qDeleteAll(std::exchange(m_named, {}));
    const auto places = engine::namedRemotes();
    if (places) {
        for (const engine::EngineRemote& place : *places) {
            m_named.append(add(QString::fromStdString(place.name), QString::fromStdString(place.command), place));
        }
    }
    for (QAction* choice : m_choices->actions()) {
        choice->setChecked(choice->data().toString() == QString::fromStdString(m_engine.place().name));
    }
    m_choices->setEnabled(m_controller.mayChangePlace());
}

QAction* RemoteCommands::add(const QString& text, const QString& toolTip, const engine::EngineRemote& place)
{
    auto* choice = new QAction(text, this);
    choice->setToolTip(toolTip);
    choice->setCheckable(true);
    choice->setData(QString::fromStdString(place.name));
    choice->setActionGroup(m_choices);
    connect(choice, &QAction::triggered, this, [this, place] { m_controller.choosePlace(place); });
    m_menu.insertAction(m_end, choice);
    return choice;
}

void RemoteCommands::edit()
{
    const auto places = engine::namedRemotes();
    if (!places) {
        refuse(QString::fromStdString(places.error().text()));
        return;
    }
    auto* dialog = new RemotesDialog(*places, m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        if (const Status kept = engine::keepNamedRemotes(dialog->places()); !kept) {
            refuse(QString::fromStdString(kept.error().text()));
        }
        fill();
    });
    dialog->show();
}

/// Asks for the command line of a run's place, which is added and runs only if the user agrees.
void RemoteCommands::askFor(const engine::RemoteUnknown& unknown)
{
    if (m_unknown) {
        return; // one question at a time
    }
    m_unknown = new UnknownRemoteDialog(
        unknown, engine::proposedRemote(unknown.place, unknown.folder, unknown.formerCommand), m_window);
    connect(m_unknown, &UnknownRemoteDialog::chosen, this,
            [this, run = unknown.runDirectory](const engine::EngineRemote& place) {
                const auto now = engine::namedRemotes();
                const bool isTaken = now && std::ranges::any_of(*now, [&](const engine::EngineRemote& other) {
                                         return other.name == place.name && other != place;
                                     });
                if (isTaken) {
                    m_unknown->refuse(tr("The list has another place of this name."));
                    return;
                }
                Status kept = engine::keepNamedRemote(place);
                kept = kept ? engine::recordRemote(run, place) : kept;
                if (!kept) {
                    m_unknown->refuse(QString::fromStdString(kept.error().text()));
                    return;
                }
                m_unknown->accept();
                note(tr("The place %1 is in your list: repeat the command").arg(QString::fromStdString(place.name)));
            });
    m_unknown->show();
}

void RemoteCommands::findRun()
{
    if (!m_session.isOpen() || m_session.isDraft() || m_engine.outlivesWindow() ||
        m_controller.phase() != RunPhase::Idle) {
        return;
    }
    const std::filesystem::path run = engine::backgroundRun();
    const auto project = run.empty() ? Result<std::filesystem::path>(Error{}) : engine::projectDirectoryOf(run);
    if (project && *project == m_session.directory()) {
        m_controller.setPlace(engine::backgroundRemote());
        note(tr("The background trains a run of this project"));
    }
}

void addRemoteCommands(const WindowParts& parts)
{
    new RemoteCommands(parts);
}

} // namespace residua::app
