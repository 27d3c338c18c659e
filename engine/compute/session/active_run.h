// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/session.h"
#include "engine/compute/queries/base/run_use.h"
#include "engine/compute/session/training_loop.h"
#include "engine/runs/store/checkpoint.h"
#include "engine/runs/store/recorder.h"
#include "projects/base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

/// A run from its first step to its end. Advances its TrainingLoop, writes the records, publishes the results, and
/// handles the user's commands between two steps. The clock decides how often results are shown, and thus on a GPU how
/// soon a diverged run ends, but not what is recorded. No member throws: an exception of the engine's libraries ends
/// the run as Failed. Engine thread.
class ActiveRun {
public:
    /// Both send RunStarted. On error, nothing new remains on the disk, and the other ranks end.
    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> start(const StartRun& command, const EventSink& sink,
                                                                  const PreparationWatches& watches);
    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> resume(const ResumeRun& command, const EventSink& sink,
                                                                   const PreparationWatches& watches);

    /// Ends the run of the other ranks too.
    ~ActiveRun();
    ActiveRun(const ActiveRun&) = delete;
    ActiveRun& operator=(const ActiveRun&) = delete;

    [[nodiscard]] RunId id() const { return m_id; }
    [[nodiscard]] const std::filesystem::path& directory() const { return m_recorder.directory(); }
    [[nodiscard]] bool running() const { return m_state == State::Running; }
    [[nodiscard]] bool ended() const { return m_state == State::Ended; }

    /// Runs one step and the work due after it. Precondition: running().
    void advance();
    void pause();
    void goOn();
    /// Continues for `steps` steps, then pauses.
    void goOnFor(std::int64_t steps);
    /// Ends the run after a checkpoint.
    void stop();
    void checkpoint();
    /// Executes another process's request from a file in the run (engine/runs/store/run_directory.h), or another rank's
    /// wish to stop, running or paused. Checks at most ten times a second.
    void heedRequests();

private:
    enum class State { Running, Paused, Ended };
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> begin(const StartRun& command, const EventSink& sink,
                                                                  const PreparationWatches& watches);
    [[nodiscard]] static Result<std::unique_ptr<ActiveRun>> begin(const ResumeRun& command, const EventSink& sink,
                                                                  const PreparationWatches& watches);
    ActiveRun(RunId id, std::unique_ptr<Trainer> trainer, RunWriter writer, std::string device, const EventSink& sink);

    /// The end of a run after a checkpoint: Finished or Stopped, with the entry in its history.
    struct Ending {
        RunStatus status{};
        std::string text = {};
        bool isNoted = false; ///< true if the entry is in the history
    };
    /// The error of a failed write, and the run's pending end, if any.
    struct Unwritten {
        Error error;
        std::optional<Ending> ending;
    };

    /// Restores the state of a resumed run; without a checkpoint, the run starts again.
    void goOnFrom(const OpenedRun& opened, std::optional<std::int64_t> checkpoint);
    /// Repeats the work that was due after the resumed step but is missing from the record.
    void makeUp(std::int64_t step);
    void announce();
    /// Publishes the record's notes as notices and as events.
    void tellNotes();
    /// Runs `work` unless the run has ended; an exception ends the run.
    void guarded(const std::function<void()>& work);
    /// Publishes and records the findings. Returns an error if the run has diverged, or if its record cannot be
    /// written.
    [[nodiscard]] Status publish(Findings found);
    [[nodiscard]] Status writeCheckpoint();
    void enterPause();
    void leavePause();
    /// After a failed write: if the run waits for the disk, pauses until the write succeeds; else ends it as Failed.
    void holdUp(const Error& error, std::optional<Ending> ending = std::nullopt);
    /// Tries the failed write again. Returns false if the run is held up again or has ended.
    [[nodiscard]] bool isWrittenNow();
    void finish(Ending ending);
    void stopWhereAsked();
    /// Ends as Failed after a checkpoint, for failures that leave the weights valid, such as those of the data. If the
    /// checkpoint cannot be written either, reports both errors. Writes none for a network that has grown but done no
    /// step since.
    void failKept(const Error& error);
    /// Ends as Failed without a checkpoint, because the state in memory may be invalid.
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
    /// The number of slow kernel calls before the run; nullopt once they were reported.
    std::optional<std::uint64_t> m_slowCalls;
    std::string m_withoutGraphs; ///< why steps are not recorded as graphs, as far as it was said
    State m_state = State::Running;
    bool m_waitsForDisk = false;
    bool m_diverged = false;
    std::optional<Unwritten> m_unwritten; ///< set while the run is held up
    Clock::time_point m_published{};
    Clock::time_point m_ranksTold{}; ///< when the ranks' times were published
    Clock::time_point m_heeded{};
    std::optional<std::int64_t> m_stopAt; ///< requested by another process
    std::int64_t m_pauseAt = 0;           ///< the step to pause after; 0: none
    std::int64_t m_stopAfter = 0;         ///< the step that the command stops it after; 0: none
    std::int64_t m_checkpointStep = -1;   ///< the step of the newest checkpoint; −1: none
};

/// Returns the checkpoint to resume from; nullopt for a run that was interrupted before its first checkpoint, which
/// then starts again. Refuses to start again if its first weights came from elsewhere. Adds skipped checkpoints to
/// `notes`.
[[nodiscard]] Result<std::optional<CheckpointFiles>> checkpointToResume(const ResumeRun& command, const RunInfo& info,
                                                                        std::vector<std::string>& notes);

} // namespace residua::engine
