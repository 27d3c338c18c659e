// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/engine/engine_bridge.h"
#include "app/training/go_on_request.h"
#include "app/training/run_queue.h"
#include "projects/nodes/example_schema.h"
#include "projects/studies/sweep_grid.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <string>
#include <vector>

namespace residua::app {

class DocumentSession;

enum class RunPhase { Idle, Starting, Running, Paused, Stopping };

/// How far the followed run is.
struct RunProgress {
    std::int64_t step = 0;
    std::int64_t steps = 0;
    double loss = engine::kNoLoss;           ///< the last; NaN before the first
    double validationLoss = engine::kNoLoss; ///< the last; NaN before the first
    double seconds = 0;                      ///< of training, earlier parts of a resumed run added up
    double unitsPerSecond = 0;
    projects::Unit unit = projects::Unit::Token;

    /// Seconds left at the present speed; negative where unknown.
    [[nodiscard]] double secondsLeft(std::int64_t unitsPerStep) const;
};

/// Run, pause, step and stop for the open document: one run at a time, the others wait in a queue. GUI thread.
class RunController : public QObject {
    Q_OBJECT
public:
    RunController(DocumentSession& session, EngineBridge& engine, QObject* parent = nullptr);

    [[nodiscard]] RunPhase phase() const { return m_phase; }
    [[nodiscard]] const RunProgress& progress() const { return m_progress; }
    [[nodiscard]] double secondsLeft() const { return m_progress.secondsLeft(m_unitsPerStep); }
    /// The followed run's directory; empty before the first.
    [[nodiscard]] const std::filesystem::path& runDirectory() const { return m_directory; }
    /// The directory of the project that the followed run is of; empty before the first.
    [[nodiscard]] const std::filesystem::path& runProject() const { return m_project; }
    /// Whether the followed run is of the open document.
    [[nodiscard]] bool isOfDocument() const;
    void setDevice(const std::string& key) { m_device = key; }
    /// Where a document goes that has no place when it is run. Default: Residua in the user's home.
    void setProjectsFolder(std::filesystem::path folder) { m_projectsFolder = std::move(folder); }

    /// Starts, or goes on where it is paused. A document without a place is saved first.
    void run();
    void pause();
    /// One step, then pause; starts the run where there is none.
    void step();
    /// Ends the run. Runs that are queued wait then until goOnWithQueue().
    void stop();
    /// Ends the run and goes on with the next in the queue.
    void skip();
    /// Trains so many steps and pauses (pictures, tests).
    void runSteps(std::int64_t steps);
    /// Goes on with an earlier run from its last checkpoint.
    void resume(const std::filesystem::path& runDirectory);
    /// Goes on with a run as the request says. False, after refused(), where another run is under way.
    bool resume(const GoOnRequest& request);
    /// Copies a run up to a checkpoint, off this thread; trains the copy where nothing else trains.
    void fork(const std::filesystem::path& runDirectory, std::int64_t step);
    void fork(const GoOnRequest& request);
    /// Makes a copy that is wired otherwise, or whose weights are in factors, in the engine's time; trains it where
    /// nothing else trains. retrofitted() or factorised() follows, or copyRefused().
    void retrofit(const GoOnRequest& request);
    void factorise(const GoOnRequest& request);
    /// The copy that is being made is no longer wanted; copyRefused() says so.
    void giveUpCopy();
    /// Trains the document as it is now once what is before it has ended; at once where nothing trains.
    void enqueue();
    /// The same for members of one of its sweeps.
    void enqueue(const std::vector<projects::SweepMember>& members);
    /// The names of the queued runs, the next first.
    [[nodiscard]] std::vector<std::string> queuedNames() const { return m_queue.names(); }
    [[nodiscard]] std::size_t queued() const { return m_queue.size(); }
    /// Whether the queue waits for goOnWithQueue(): after stop(), where there is no engine, and where the next was
    /// taken up.
    [[nodiscard]] bool queueHeld() const { return !m_queue.empty() && (m_held || m_queue.nextIsTakenUp()); }
    void goOnWithQueue();
    void clearQueue();
    /// Queues again the runs that an earlier session left in the open project's queue; they wait for goOnWithQueue().
    void takeUpQueue();
    /// Whether runs of that project were taken up that still wait for goOnWithQueue().
    [[nodiscard]] bool hasTakenUp(const std::filesystem::path& projectDirectory) const
    {
        return m_queue.hasTakenUp(projectDirectory);
    }
    /// Forgets those; the others in the queue stay.
    void forgetTakenUp(const std::filesystem::path& projectDirectory);

signals:
    /// Another phase, or another document whose run it is or is not.
    void phaseChanged();
    void queueChanged();
    /// `count` runs that an earlier session queued in that project wait.
    void queueTakenUp(int count, const std::filesystem::path& projectDirectory);
    /// A copy of a run has been made.
    void forked(const std::filesystem::path& runDirectory);
    void retrofitted(const residua::engine::RetrofitReady& made);
    void factorised(const residua::engine::FactoriseReady& made);
    void copyRefused(const QString& reason);
    void started(const std::filesystem::path& runDirectory);
    void progressed(const residua::engine::Progress& progress);
    void ended(const residua::engine::RunEnded& event);
    /// The document was given a place of its own so that it could be run.
    void savedTo(const QString& folder);
    /// The run pauses because it cannot be written; run() tries once more, stop() ends it.
    void heldUp(const residua::engine::RunPaused& event);
    /// What was asked for cannot be done; `reason` says why.
    void refused(const QString& reason);

private:
    void start(std::int64_t pauseAfter);
    [[nodiscard]] engine::StartRun commandFor(projects::Project project, std::int64_t pauseAfter) const;
    void push(std::vector<engine::StartRun> commands);
    void launch(engine::StartRun command);
    [[nodiscard]] bool launch(engine::ResumeRun command);
    void startNext();
    void endRun();
    void followCopies();
    void resumeCopy(const std::filesystem::path& copy, const GoOnRequest& request);
    [[nodiscard]] bool prepare();
    [[nodiscard]] bool givePlace();
    void setPhase(RunPhase phase);
    void forgetForeignRun();
    void onProgress(const engine::Progress& progress);
    void onEnded(const engine::RunEnded& event);

    DocumentSession& m_session;
    EngineBridge& m_engine;
    RunPhase m_phase = RunPhase::Idle;
    RunProgress m_progress;
    std::int64_t m_unitsPerStep = 0;
    std::filesystem::path m_directory;
    std::filesystem::path m_project;
    std::filesystem::path m_projectsFolder;
    std::string m_device = "cpu";
    RunQueue m_queue; ///< their directories are named when they start
    bool m_held = false;
    bool m_ofQueue = false;    ///< whether the run that was started last waited in it
    engine::QueryTag m_copy{}; ///< the last retrofit or factorisation that was asked for
    GoOnRequest m_goOn;        ///< how that copy is to go on
};

} // namespace residua::app
