// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/session.h"
#include "engine/runs/run_writer.h"
#include "projects/base/result.h"

#include <string>
#include <vector>

namespace residua::engine {

/// Says when the next write to disk is due: at most once a second, and seldom enough that writing takes at most one
/// percent of the time.
class FlushPace {
public:
    [[nodiscard]] bool due(double now) const { return now >= m_next; }
    /// A flush that began and ended at these seconds.
    void flushed(double begin, double end);

private:
    double m_next = 0;
};

/// What a run leaves on disk beside its checkpoints: rows go to the writer's buffer at once, and to disk at a pace.
/// Engine thread.
class Recorder {
public:
    /// For a run on `device`, with so many threads of the processor (RunInfo::threads), that ends after `steps`, be it
    /// new or resumed.
    Recorder(RunWriter writer, const std::string& device, std::int64_t threads, std::int64_t steps);

    /// The run goes on after `step`, and the writer has dropped the rows of later ones: run.json tells nothing of them
    /// either.
    void goOnFrom(std::int64_t step);
    /// Buffers all that an event of progress carries, after `step` steps.
    void add(const Progress& progress, std::int64_t step);
    void event(std::int64_t step, RunEventKind kind, const std::string& text);
    /// Writes when the pace allows it.
    [[nodiscard]] Status flushIfDue();
    /// Writes now.
    [[nodiscard]] Status flush();
    /// Writes now, with the run's new status. A message belongs to a failed run. A status that ends the run waits up to
    /// a minute for another process that holds the store.
    [[nodiscard]] Status flush(RunStatus status, const std::string& message = {});
    /// What a person should know of the record, since the last call.
    [[nodiscard]] std::vector<std::string> takeNotes();
    /// The last step of which progress was added; at first the one that the run goes on from.
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
    std::int64_t m_figuresStep = 0; ///< the last step that has throughput and memory recorded
};

} // namespace residua::engine
