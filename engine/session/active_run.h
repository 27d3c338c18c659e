// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/queries/base/run_use.h"
#include "engine/session/recorder.h"
#include "engine/session/training_loop.h"
#include "projects/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A run from its first step to its end: advances its TrainingLoop, keeps the records, tells what was found, and does
/// what a person asks for between two steps. The clock decides how often it shows what was found, and on a GPU thereby
/// how soon a run ends that has diverged, but not what its record has. Nothing throws: what the engine's libraries
/// throw ends the run as Failed. Engine thread.
class ActiveRun {
public:
    /// Both announce themselves with RunStarted. An error leaves nothing new on disk.
    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> start(const StartRun& command, const EventSink& sink,
                                                                  const PreparationWatches& watches);
    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> resume(const ResumeRun& command, const EventSink& sink,
                                                                   const PreparationWatches& watches);

    [[nodiscard]] RunId id() const { return m_id; }
    [[nodiscard]] bool running() const { return m_state == State::Running; }
    [[nodiscard]] bool ended() const { return m_state == State::Ended; }

    /// One step and what is due after it. Precondition: running().
    void advance();
    void pause();
    void goOn();
    /// Goes on for so many steps, then pauses.
    void goOnFor(std::int64_t steps);
    /// Ends after a checkpoint.
    void stop();
    void checkpoint();
    /// Does what another process asks for by a file in the run (engine/runs/stop_request.h), running or paused. Looks
    /// at most ten times a second.
    void heedRequests();

private:
    enum class State { Running, Paused, Ended };
    using Clock = std::chrono::steady_clock;

    ActiveRun(RunId id, std::unique_ptr<Trainer> trainer, RunWriter writer, std::string device, const EventSink& sink);

    /// How a run ends after a checkpoint: Finished or Stopped, with what its history says of it.
    struct Ending {
        RunStatus status{};
        std::string text = {};
        bool isNoted = false; ///< in the history
    };
    /// What could not be written, and how the run was to end, if it was.
    struct Unwritten {
        Error error;
        std::optional<Ending> ending;
    };

    /// What a run that is resumed begins with; without a checkpoint it begins again.
    void goOnFrom(const OpenedRun& opened, std::optional<std::int64_t> checkpoint);
    /// Does what was due after the step that the run goes on from and that the record lacks.
    void makeUp(std::int64_t step);
    void announce();
    /// What the record has to say, as notices and as events.
    void tellNotes();
    /// Runs `work`, unless the run has ended; what it throws ends the run.
    void guarded(const std::function<void()>& work);
    /// Tells and records what was found. An error where the run has diverged, or its record cannot be written.
    [[nodiscard]] Status publish(Findings found);
    [[nodiscard]] Status writeCheckpoint();
    void enterPause();
    void leavePause();
    /// Pauses, if the run waits for the disk, until what could not be written can be; else ends as Failed.
    void holdUp(const Error& error, std::optional<Ending> ending = std::nullopt);
    /// Tries once more to write what held the run up. False: it is held up again, or has ended.
    [[nodiscard]] bool isWrittenNow();
    void finish(Ending ending);
    void stopWhereAsked();
    /// Ends as Failed after a checkpoint: the weights are sound, what they were to learn from next is not. Where it
    /// cannot be written either, both are told. None is written of a network that has grown and done no step since.
    void failKept(const Error& error);
    /// Ends without one: what is in memory cannot be trusted.
    void fail(const Error& error);
    [[nodiscard]] Trainer& trainer() { return m_loop.trainer(); }
    /// RunInfo::threads.
    [[nodiscard]] std::int64_t threads();

    RunId m_id{};
    const EventSink& m_sink;
    std::string m_device;
    TrainingLoop m_loop;
    Recorder m_recorder;
    Throughput m_throughput;
    /// The calls of slow kernels before the run; nullopt once they were told of.
    std::optional<std::uint64_t> m_slowCalls;
    State m_state = State::Running;
    bool m_waitsForDisk = false;
    bool m_diverged = false;
    std::optional<Unwritten> m_unwritten; ///< while the run is held up
    Clock::time_point m_published{};
    Clock::time_point m_heeded{};
    std::optional<std::int64_t> m_stopAt; ///< asked for by another process
    std::int64_t m_pauseAt = 0;           ///< step to pause after; 0: none
    std::int64_t m_checkpointStep = -1;   ///< of the newest checkpoint; −1: none
};

} // namespace residua::engine
