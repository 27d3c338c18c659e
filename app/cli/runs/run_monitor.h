// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/runs/engine_client.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/run_progress.h"
#include "engine/base/api/session.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace residua::cli {

/// The reason why a run was asked to stop before its last step.
enum class StopCause { None, Signal, TimeLimit };

/// The result of a run, collected from its events.
struct RunOutcome {
    engine::RunStarted started; ///< its directory is empty if the run ended before it began
    engine::RunEnded ended;
    std::vector<engine::StepRecord> steps; ///< those of this process, with Show::NothingButKeepSteps
    engine::RunInfo last;                  ///< with the last values only
    std::int64_t peakBytes = 0;
    std::int64_t checkpointStep = -1;
    StopCause stopCause = StopCause::None;
    bool trained = false; ///< true if a step may have been made, also on a rank that has no run
    bool left = false;    ///< true if the run continues in the background without this process

    [[nodiscard]] bool began() const { return !started.runDirectory.empty(); }
};

/// The number, in commands and events, of the single run that a process follows.
inline constexpr engine::RunId kRun{1};

enum class Show { Progress, Nothing, NothingButKeepSteps };

/// Starts or resumes the run kRun and follows it to its end. SIGINT, SIGTERM, SIGHUP and the time limit stop it after a
/// checkpoint. SIGUSR1 writes a checkpoint and the run continues. SIGINT while it is stopping ends the process at once
/// with Exit::Quit. A run in the background is left training by SIGTERM and SIGHUP, and at its beginning by --detach.
[[nodiscard]] RunOutcome follow(const engine::Command& command, const Console& console, Show show,
                                const Computing& computing = {});

/// Returns the last values of a run: "loss 2.5, validation 2.6, validation accuracy 0.31, perplexity 13.5". `project`
/// may be null if it is unknown.
[[nodiscard]] std::string resultText(const engine::RunInfo& run, const projects::Project* project);

/// Reports that a run was stopped and how to resume it. Returns the exit code.
[[nodiscard]] Exit concludeStopped(const RunOutcome& outcome, const std::string& howToGoOn, const Console& console);

inline constexpr int kProgressRanks = 5; ///< ranks of the figures of progressText()
/// Returns the known figures of a run's progress of at most this rank; 1 is the most important.
[[nodiscard]] std::string progressText(const engine::RunProgress& progress, int rank = kProgressRanks);

/// Shows the progress of a run as the console's status, at most ten times a second, within the columns of a terminal.
class ProgressBar {
public:
    ProgressBar(const Console& console, const engine::RunStarted& started);

    void update(const engine::Progress& progress);
    /// Leaves the last state as a line.
    void finish();
    /// Returns the current line in at most `columns` columns. Less important figures are omitted if there is no room.
    [[nodiscard]] std::string line(std::size_t columns) const;

private:
    /// Returns as many figures as fit into the columns, at least the first.
    [[nodiscard]] std::string fitting(std::size_t columns) const;
    [[nodiscard]] std::string bar(std::size_t width) const;

    using Clock = std::chrono::steady_clock;
    const Console& m_console;
    engine::RunProgress m_progress;
    Clock::time_point m_shown{};
};

} // namespace residua::cli
