// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/training/run_controller.h"

#include "app/document/document_session.h"
#include "app/engine/background.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/check/validate.h"
#include "projects/file/store.h"

#include <QDir>

#include <utility>
#include <variant>

namespace residua::app {

RunController::RunController(DocumentSession& session, EngineBridge& engine, QObject* parent)
    : QObject(parent),
      m_session(session),
      m_engine(engine),
      m_projectsFolder(QDir::home().filePath(QStringLiteral("Residua")).toStdString())
{
    connect(&engine, &EngineBridge::runTold, this, &RunController::take);
    connect(&session, &DocumentSession::opened, this, [this] {
        forgetForeignRun();
        emit phaseChanged();
    });
    connect(&m_queue, &RunQueue::failed, this,
            [this](const Error& error) { emit refused(QString::fromStdString(error.text())); });
    connect(&m_queue, &RunQueue::takenUp, this, [this](int count, const std::filesystem::path& project) {
        emit queueChanged();
        emit queueTakenUp(count, project);
    });
}

void RunController::take(const engine::Event& event)
{
    std::visit(Overloaded{
                   [this](const engine::RunStarted& started) { onStarted(started); },
                   [this](const engine::Progress& progress) {
                       m_progress.add(progress);
                       emit progressed(progress);
                   },
                   [this](const engine::CheckpointWritten& written) { emit checkpointWritten(written); },
                   [this](const engine::RunPaused& paused) {
                       setPhase(RunPhase::Paused);
                       if (!paused.error.message.empty()) {
                           emit heldUp(paused);
                       }
                   },
                   [this](const engine::RunContinued&) { setPhase(RunPhase::Running); },
                   [this](const engine::RunEnded& ended) { onEnded(ended); },
                   [](const auto&) {},
               },
               event);
}

void RunController::onStarted(const engine::RunStarted& event)
{
    if (event.run == engine::kFoundRun) {
        m_progress = {};
        const auto project = engine::projectDirectoryOf(event.runDirectory);
        m_project = project ? *project : std::filesystem::path();
    }
    m_directory = event.runDirectory;
    m_progress.add(event);
    setPhase(RunPhase::Running);
    emit started(m_directory);
}

void RunController::setPlace(engine::EngineRemote place)
{
    if (place == m_engine.place()) {
        return;
    }
    if (!mayChangePlace()) {
        emit refused(tr("Another run is under way: stop it first."));
        return;
    }
    m_engine.setPlace(std::move(place));
    m_phase = RunPhase::Idle;
    forgetForeignRun();
    emit phaseChanged();
}

void RunController::choosePlace(engine::EngineRemote place)
{
    setPlace(place);
    if (m_engine.place() == place) {
        emit placeChosen();
    }
}

void RunController::run()
{
    if (m_phase == RunPhase::Paused) {
        m_engine.tell(engine::Continue{});
    } else if (m_phase == RunPhase::Idle) {
        start(0);
    }
}

void RunController::pause()
{
    if (m_phase == RunPhase::Running) {
        m_engine.tell(engine::Pause{});
    }
}

void RunController::step()
{
    if (m_phase == RunPhase::Paused) {
        m_engine.tell(engine::Step{});
    } else if (m_phase == RunPhase::Idle) {
        start(1);
    }
}

void RunController::stop()
{
    m_held = true;
    endRun();
    emit queueChanged();
}

void RunController::skip()
{
    m_held = false;
    m_queue.release();
    endRun();
    emit queueChanged();
}

void RunController::endRun()
{
    if (m_phase == RunPhase::Starting || m_phase == RunPhase::Running || m_phase == RunPhase::Paused) {
        m_engine.tell(engine::Stop{});
        setPhase(RunPhase::Stopping);
    }
}

void RunController::runSteps(std::int64_t steps)
{
    if (m_phase == RunPhase::Idle) {
        start(steps);
    }
}

void RunController::resume(const std::filesystem::path& runDirectory)
{
    engine::ResumeRun command;
    command.of.runDirectory = runDirectory;
    command.of.projectDirectory = m_session.directory();
    static_cast<void>(launch(std::move(command)));
}

bool RunController::resume(const ContinueRun& request)
{
    engine::ResumeRun command;
    command.of = request.of;
    command.steps = request.steps;
    return launch(std::move(command));
}

bool RunController::launch(engine::ResumeRun command)
{
    if (m_phase != RunPhase::Idle) {
        emit refused(tr("Another run is under way: stop it first."));
        return false;
    }
    command.device = m_device;
    command.waitsForDisk = true;
    m_progress = {};
    m_project = command.of.projectDirectory;
    m_engine.begin(std::move(command));
    setPhase(RunPhase::Starting);
    return true;
}

void RunController::start(std::int64_t pauseAfter)
{
    if (prepare()) {
        launch(commandFor(m_session.wholeProject(), pauseAfter));
    }
}

engine::StartRun RunController::commandFor(projects::Project project, std::int64_t pauseAfter) const
{
    engine::StartRun command;
    command.project = std::move(project);
    command.projectDirectory = m_session.directory();
    command.device = m_device;
    command.pauseAfter = pauseAfter;
    return command;
}

void RunController::launch(engine::StartRun command)
{
    command.runFolder = command.projectDirectory / projects::kRunsFolder;
    command.waitsForDisk = true;
    m_progress = {};
    m_progress.steps = command.project.training.steps;
    m_project = command.projectDirectory;
    m_engine.begin(std::move(command));
    setPhase(RunPhase::Starting);
}

std::vector<engine::StartRun> RunController::queuedRuns() const
{
    std::vector<engine::StartRun> runs = m_queue.waiting();
    if (m_ofQueue) {
        runs.push_back(m_queue.popped());
    }
    std::erase_if(runs, [this](const auto& run) { return run.projectDirectory != m_session.directory(); });
    return runs;
}

void RunController::enqueue()
{
    if (prepare()) {
        push({commandFor(m_session.wholeProject(), 0)});
    }
}

void RunController::enqueue(const std::vector<projects::SweepMember>& members)
{
    if (members.empty() || !prepare()) {
        return;
    }
    std::vector<engine::StartRun> commands;
    for (const projects::SweepMember& member : members) {
        commands.push_back(commandFor(member.project, 0));
        commands.back().membership = member.membership;
    }
    push(std::move(commands));
}

bool RunController::trainMember(const projects::SweepMember& member, const std::filesystem::path& run,
                                std::int64_t stopAfter)
{
    if (m_phase != RunPhase::Idle || !m_queue.empty() || !prepare()) {
        return false;
    }
    if (!run.empty()) {
        engine::ResumeRun resume;
        resume.of.runDirectory = run;
        resume.of.projectDirectory = m_session.directory();
        resume.stopAfter = stopAfter;
        return launch(std::move(resume));
    }
    engine::StartRun start = commandFor(member.project, 0);
    start.membership = member.membership;
    start.stopAfter = stopAfter;
    launch(std::move(start));
    return true;
}

void RunController::push(std::vector<engine::StartRun> commands)
{
    m_held = m_held && !m_queue.empty();
    for (engine::StartRun& command : commands) {
        m_queue.push(std::move(command));
    }
    emit queueChanged();
    startNext();
}

void RunController::goOnWithQueue()
{
    m_held = false;
    m_queue.release();
    emit queueChanged();
    startNext();
}

void RunController::clearQueue()
{
    m_queue.clear();
    emit queueChanged();
}

void RunController::forgetTakenUp(const std::filesystem::path& projectDirectory)
{
    m_queue.forgetTakenUp(projectDirectory);
    emit queueChanged();
    startNext(); // starts the runs queued behind them
}

void RunController::takeUpQueue()
{
    m_queue.takeUp(m_session.directory(), m_device);
}

void RunController::startNext()
{
    if (m_phase != RunPhase::Idle || m_queue.empty() || queueHeld()) {
        return;
    }
    launch(m_queue.pop());
    m_ofQueue = true;
    emit queueChanged(); // now that the run begins, at the place where it was queued
}

void RunController::fork(const std::filesystem::path& runDirectory, std::int64_t step)
{
    fork(ContinueRun{{runDirectory, m_session.directory(), engine::OtherData::Refuse, step}, {}, {}});
}

void RunController::fork(const ContinueRun& request)
{
    const auto copyOf = [request]() -> Result<std::filesystem::path> {
        return engine::forkRun(request.of.runDirectory, request.of.step.value_or(0), {},
                               request.project ? &*request.project : nullptr);
    };
    inBackground(this, copyOf, [this, request](Result<std::filesystem::path> copy) {
        if (!copy) {
            emit refused(QString::fromStdString(copy.error().text()));
            return;
        }
        resumeCopy(*copy, request.of, request.steps);
    });
}

void RunController::retrofit(const engine::RetrofitRequest& request)
{
    askForCopy(request, &RunController::retrofitted);
}

void RunController::factorise(const engine::FactoriseRequest& request)
{
    askForCopy(request, &RunController::factorised);
}

/// Emits `made` and resumes the copy when the engine has made it.
template <class Query>
void RunController::askForCopy(const Query& query, void (RunController::*made)(const engine::AnswerOf<Query>&))
{
    m_copy = m_engine.ask(
        query, this,
        [this, of = query.of, steps = query.steps, made](const engine::AnswerOf<Query>& copy) {
            emit(this->*made)(copy);
            resumeCopy(copy.runDirectory, of, steps);
        },
        [this](const engine::QueryFailed& failed) { emit copyRefused(QString::fromStdString(failed.error.text())); });
}

void RunController::giveUpCopy()
{
    m_engine.drop(m_copy);
}

/// Resumes a copy of a run from its only checkpoint.
void RunController::resumeCopy(const std::filesystem::path& copy, const engine::RunRef& of,
                               std::optional<std::int64_t> steps)
{
    emit forked(copy);
    if (m_phase != RunPhase::Idle) {
        return; // it is listed and can be resumed
    }
    engine::ResumeRun command;
    command.of = {copy, of.projectDirectory, of.otherData};
    command.steps = steps;
    static_cast<void>(launch(std::move(command)));
}

bool RunController::prepare()
{
    if (!m_session.isOpen()) {
        return false;
    }
    const auto problems = projects::validate(m_session.wholeProject());
    if (projects::hasErrors(problems)) {
        emit refused(QString::fromStdString(problems.front().text()));
        return false;
    }
    return !m_session.isDraft() || givePlace();
}

bool RunController::givePlace()
{
    const std::filesystem::path folder = freeProjectFolder(m_projectsFolder, m_session.project().name);
    if (const Status saved = m_session.saveAs(folder); !saved) {
        emit refused(QString::fromStdString(saved.error().text()));
        return false;
    }
    emit savedTo(QString::fromStdString(folder.string()));
    return true;
}

void RunController::setPhase(RunPhase phase)
{
    if (phase != m_phase) {
        m_phase = phase;
        emit phaseChanged();
    }
}

bool RunController::isOfDocument() const
{
    return m_session.isOpen() && !m_session.isDraft() && m_session.directory() == m_project;
}

/// Called when a run ends: removes it if it belongs to another document.
void RunController::forgetForeignRun()
{
    if (m_phase == RunPhase::Idle && !isOfDocument()) {
        m_progress = {};
    }
}

void RunController::onEnded(const engine::RunEnded& event)
{
    m_phase = RunPhase::Idle;
    forgetForeignRun();
    emit phaseChanged();
    const bool ofQueue = std::exchange(m_ofQueue, false);
    if (event.noEngine) { // without an engine every other queued run would fail too
        m_held = true;
        if (ofQueue) {
            m_queue.putBack();
        }
        emit queueChanged();
    }
    if (event.hasFailed()) {
        emit refused(QString::fromStdString(event.error.text()));
    }
    emit ended(event);
    startNext();
}

} // namespace residua::app
