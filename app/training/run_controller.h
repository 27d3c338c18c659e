// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/engine/engine_bridge.h"
#include "app/training/go_on_request.h"
#include "app/training/run_queue.h"
#include "engine/base/api/run_progress.h"
#include "projects/studies/sweep_grid.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <string>
#include <vector>

namespace residua::app {

class DocumentSession;

enum class RunPhase { Idle, Starting, Running, Paused, Stopping };

/// Run, pause, step and stop for the open document: one run at a time, the others wait in a queue. GUI thread.
class RunController : public QObject {
    Q_OBJECT
public:
    RunController(DocumentSession& session, EngineBridge& engine, QObject* parent = nullptr);

    [[nodiscard]] RunPhase phase() const { return m_phase; }
    /// Returns the progress of the followed run.
    [[nodiscard]] const engine::RunProgress& progress() const { return m_progress; }
    /// Returns the followed run's directory; empty before the first run.
    [[nodiscard]] const std::filesystem::path& runDirectory() const { return m_directory; }
    /// Returns the directory of the followed run's project; empty before the first run.
    [[nodiscard]] const std::filesystem::path& runProject() const { return m_project; }
    /// True if the followed run belongs to the open document.
    [[nodiscard]] bool isOfDocument() const;
    [[nodiscard]] const std::string& device() const { return m_device; }
    /// Trains there from now on, and no longer follows a run in the background. refused() if another run is under way.
    void setPlace(engine::EngineRemote place);
    /// Does so because the user wants to train this project there; placeChosen() follows unless it is refused.
    void choosePlace(engine::EngineRemote place);
    [[nodiscard]] const engine::EngineRemote& place() const { return m_engine.place(); }
    /// True if setPlace() is not refused.
    [[nodiscard]] bool mayChangePlace() const { return m_phase == RunPhase::Idle || m_engine.outlivesWindow(); }
    void setDevice(const std::string& key) { m_device = key; }
    /// Sets the folder for documents without a place when they are run. Default: Residua in the user's home.
    void setProjectsFolder(std::filesystem::path folder) { m_projectsFolder = std::move(folder); }

    /// Starts a run, or continues a paused one. A document without a place is saved first.
    void run();
    void pause();
    /// Trains one step, then pauses; starts a run if there is none.
    void step();
    /// Ends the run. Queued runs then wait until goOnWithQueue().
    void stop();
    /// Ends the run and starts the next one of the queue.
    void skip();
    /// Trains `steps` steps and pauses (pictures, tests).
    void runSteps(std::int64_t steps);
    /// Resumes an earlier run from its last checkpoint.
    void resume(const std::filesystem::path& runDirectory);
    /// Resumes a run by the request. Returns false after refused() if another run is training.
    bool resume(const ContinueRun& request);
    /// Copies a run up to a checkpoint on another thread, and trains the copy unless another run is training.
    void fork(const std::filesystem::path& runDirectory, std::int64_t step);
    void fork(const ContinueRun& request);
    /// Has the engine make a copy with another wiring, or with weights in factors, and trains it unless another run is
    /// training. retrofitted(), factorised() or copyRefused() follows.
    void retrofit(const engine::RetrofitRequest& request);
    void factorise(const engine::FactoriseRequest& request);
    /// Cancels the copy that is being made. No signal follows.
    void giveUpCopy();
    /// Trains the document as it is now after the runs before it, or at once if no run is training.
    void enqueue();
    /// Does so for members of one of its sweeps.
    void enqueue(const std::vector<projects::SweepMember>& members);
    /// Trains a member of one of its sweeps up to a step (0: its last) now: from its start, or resuming the run in
    /// `run` unless that is empty. Returns false if another run is training or waits, or after refused().
    [[nodiscard]] bool trainMember(const projects::SweepMember& member, const std::filesystem::path& run,
                                   std::int64_t stopAfter);
    /// Returns the names of the queued runs, the next first.
    [[nodiscard]] std::vector<std::string> queuedNames() const { return m_queue.names(); }
    [[nodiscard]] std::size_t queued() const { return m_queue.size(); }
    /// Returns the queued runs of the open project, and the one that is being trained if it was queued.
    [[nodiscard]] std::vector<engine::StartRun> queuedRuns() const;
    /// True if the queue waits for goOnWithQueue(): after stop(), without an engine, and if the next run comes from an
    /// earlier session.
    [[nodiscard]] bool queueHeld() const { return !m_queue.empty() && (m_held || m_queue.nextIsTakenUp()); }
    void goOnWithQueue();
    void clearQueue();
    /// Queues the runs that an earlier session left in the open project's queue. They wait for goOnWithQueue().
    void takeUpQueue();
    /// True if runs of that project's earlier session still wait for goOnWithQueue().
    [[nodiscard]] bool hasTakenUp(const std::filesystem::path& projectDirectory) const
    {
        return m_queue.hasTakenUp(projectDirectory);
    }
    /// Removes those from the queue; others stay.
    void forgetTakenUp(const std::filesystem::path& projectDirectory);

signals:
    /// Emitted when the phase or isOfDocument() may have changed.
    void phaseChanged();
    void placeChosen();
    void queueChanged();
    /// Emitted when `count` runs of an earlier session in that project wait.
    void queueTakenUp(int count, const std::filesystem::path& projectDirectory);
    /// Emitted when a copy of a run has been made.
    void forked(const std::filesystem::path& runDirectory);
    void retrofitted(const residua::engine::RetrofitReady& made);
    void factorised(const residua::engine::FactoriseReady& made);
    void copyRefused(const QString& reason);
    void started(const std::filesystem::path& runDirectory);
    void progressed(const residua::engine::Progress& progress);
    void checkpointWritten(const residua::engine::CheckpointWritten& event);
    void ended(const residua::engine::RunEnded& event);
    /// Emitted when the document was saved to a folder so that it could be run.
    void savedTo(const QString& folder);
    /// Emitted when the run pauses because it cannot be written. run() tries once more, stop() ends it.
    void heldUp(const residua::engine::RunPaused& event);
    /// Emitted when a request cannot be carried out, with the reason.
    void refused(const QString& reason);

private:
    void take(const engine::Event& event);
    void onStarted(const engine::RunStarted& event);
    void start(std::int64_t pauseAfter);
    [[nodiscard]] engine::StartRun commandFor(projects::Project project, std::int64_t pauseAfter) const;
    void push(std::vector<engine::StartRun> commands);
    void launch(engine::StartRun command);
    [[nodiscard]] bool launch(engine::ResumeRun command);
    void startNext();
    void endRun();
    template <class Query>
    void askForCopy(const Query& query, void (RunController::*made)(const engine::AnswerOf<Query>&));
    void resumeCopy(const std::filesystem::path& copy, const engine::RunRef& of, std::optional<std::int64_t> steps);
    [[nodiscard]] bool prepare();
    [[nodiscard]] bool givePlace();
    void setPhase(RunPhase phase);
    void forgetForeignRun();
    void onEnded(const engine::RunEnded& event);

    DocumentSession& m_session;
    EngineBridge& m_engine;
    RunPhase m_phase = RunPhase::Idle;
    engine::RunProgress m_progress;
    std::filesystem::path m_directory;
    std::filesystem::path m_project;
    std::filesystem::path m_projectsFolder;
    std::string m_device = "cpu";
    RunQueue m_queue; ///< their directories are chosen when they start
    bool m_held = false;
    bool m_ofQueue = false;    ///< true if the run that was started last came from the queue
    engine::QueryTag m_copy{}; ///< the last request for a retrofit or factorisation
};

} // namespace residua::app
