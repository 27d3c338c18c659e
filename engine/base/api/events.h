// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/queries.h"
#include "projects/base/result.h"
#include "projects/nodes/example_schema.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// The events with which a session answers.
namespace residua::engine {

/// In the events of a session, and in its commands: the run that a background engine had when the session found it.
inline constexpr RunId kFoundRun{};

/// The run trains. A session that finds a background engine with a run receives this with kFoundRun.
struct RunStarted {
    RunId run{};
    std::filesystem::path runDirectory;
    std::int64_t firstStep = 0; ///< steps already done
    std::int64_t steps = 0;     ///< the total planned
    std::int64_t parameters = 0;
    std::string device;
    std::int64_t unitsPerStep = 0;
    projects::Unit unit = projects::Unit::Token; ///< the unit of unitsPerStep
};
/// The records since the previous Progress. At most 30 a second; the last step's is always sent.
struct Progress {
    RunId run{};
    std::vector<StepRecord> steps = {};
    std::vector<MetricRow> rows = {};     ///< measured after some steps, by step
    std::vector<Matrix> matrices = {};    ///< by step
    std::vector<StageRecord> stages = {}; ///< the stages that have begun
    double unitsPerSecond = 0;            ///< tokens/s or samples/s over the last seconds
    std::int64_t peakBytes = 0;           ///< peak memory: the device's, or the process's on the CPU

    /// Returns the last value of the metric `name` in `rows`; nullopt if no row has that name.
    [[nodiscard]] std::optional<double> last(std::string_view name) const
    {
        const auto found = std::ranges::find(rows.rbegin(), rows.rend(), name, &MetricRow::name);
        return found == rows.rend() ? std::nullopt : std::optional(found->value);
    }
};
struct CheckpointWritten {
    RunId run{};
    std::int64_t step = 0;
    std::filesystem::path path;
};
struct RunPaused {
    RunId run{};
    std::int64_t step = 0;
    /// Why the checkpoint or the records cannot be written; empty if a pause was requested. Continue and Step try
    /// again; Stop ends the run as Failed, with what was written before.
    Error error;
};
struct RunContinued {
    RunId run{};
};
struct RunEnded {
    RunId run{};
    RunStatus status{};
    std::int64_t step = 0;
    Error error;
    bool noEngine = false; ///< true if the run failed because the engine cannot be started, as any other run would
    /// Why the record on this machine lacks the end of a run at another place; empty if it does not. ResumeRun
    /// completes it.
    std::string unrecorded = {};

    /// True if `error` says why the run ended. Interrupted: the engine's process ended within it.
    [[nodiscard]] bool hasFailed() const { return status == RunStatus::Failed || status == RunStatus::Interrupted; }
};
/// A message for the user; the run continues.
struct Notice {
    RunId run{};
    std::string text;
};
/// The run that a command names is at a place that the user's list lacks. The command's refusal follows. Programs only.
struct RemoteUnknown {
    QueryTag tag{}; ///< of the refused query; the default for a command that runs
    std::filesystem::path runDirectory;
    std::string place; ///< as the run records it
    std::filesystem::path folder;
    std::string formerCommand; ///< a command line that the run records and that has not been run; may be empty
};
struct QueryFailed {
    QueryTag tag{};
    Error error;
    /// All errors, one per line, if `error` names only the first: the tensors of an import that do not fit.
    std::vector<std::string> details = {};
    std::vector<std::string> notes = {}; ///< notes for the user from the work done until the error
};

using Event = Queries::Events<RunStarted, Progress, CheckpointWritten, RunPaused, RunContinued, RunEnded, Notice,
                              GapProgress, RemoteUnknown, QueryProgress, QueryFailed>;

/// True for the events of a query that its answer follows.
template <class Told>
inline constexpr bool kIsProgress =
    std::is_same_v<Told, QueryProgress> || std::is_same_v<Told, GapProgress> || std::is_same_v<Told, RemoteUnknown>;

} // namespace residua::engine
