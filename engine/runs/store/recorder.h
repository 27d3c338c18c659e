// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/store/run_writer.h"
#include "projects/base/result.h"

#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// Schedules writes to the disk: at most one a second, and rarely enough that writing takes at most one percent of the
/// time.
class FlushPace {
public:
    [[nodiscard]] bool due(double now) const { return now >= m_next; }
    /// Records a flush with its beginning and end in seconds.
    void flushed(double begin, double end);

private:
    double m_next = 0;
};

/// Writes a run's records, except for its checkpoints: rows go to the writer's buffer at once, and to the disk at a
/// pace. Engine thread.
class Recorder {
public:
    /// For a new or resumed run on `device` that ends after `steps`. `threads` is RunInfo::threads.
    Recorder(RunWriter writer, const std::string& device, std::int64_t threads, std::int64_t steps);

    /// Sets RunInfo::classes for the next write, unless the names take more than run.json may have.
    void setClasses(std::vector<std::string> classes);
    /// Continues the record after `step`, which rated the run with `values` (valuesUpTo). The writer has dropped the
    /// later rows; this also removes their values from run.json.
    void goOnFrom(std::int64_t step, const std::map<std::string, double>& values);
    /// Buffers all contents of a progress event.
    void add(const Progress& progress);
    /// Writes now that the run is paused, or is continued.
    [[nodiscard]] Status add(const RunPaused& paused);
    [[nodiscard]] Status add(const RunContinued& continued);
    void event(std::int64_t step, RunEventKind kind, const std::string& text);
    /// Writes if the pace allows it.
    [[nodiscard]] Status flushIfDue();
    /// Writes now.
    [[nodiscard]] Status flush();
    /// Writes now, with the run's new status. `message` is for a failed run. A status that ends the run waits up to a
    /// minute for another process that holds the store.
    [[nodiscard]] Status flush(RunStatus status, const std::string& message = {});
    /// Returns the notes about the record since the last call, for the user.
    [[nodiscard]] std::vector<std::string> takeNotes();
    /// True if records wait in memory for a write that has failed or is not due.
    [[nodiscard]] bool isBuffered() const { return m_writer.isBuffered(); }
    /// Returns the last step with progress; at first the step that the run continues from.
    [[nodiscard]] std::int64_t lastStep() const { return m_info.step; }

    [[nodiscard]] const std::filesystem::path& directory() const { return m_writer.directory(); }

private:
    void add(const StageRecord& stage);

    RunWriter m_writer;
    RunInfo m_info;
    std::vector<std::string> m_notes;
    FlushPace m_pace;
    double m_unitsPerSecond = 0;
    std::int64_t m_peakBytes = 0;
    std::int64_t m_figuresStep = 0; ///< the last step with recorded throughput and memory
};

} // namespace residua::engine
