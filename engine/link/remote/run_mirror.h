// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/store/recorder.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The record on this machine of a run that trains at a place: a run directory without checkpoints, written from the
/// run's events. Holds the directory as a process that trains the run would. One thread.
class RunMirror {
public:
    /// Makes the record of a new run where `command` says. `there` is its run.json, and `remote` its place.
    [[nodiscard]] static Result<RunMirror> begin(const StartRun& command, const RunStarted& started,
                                                 const RunFile& there, RemoteRun remote);
    /// Continues a record from the step that the run is resumed from. `held` is RunWriter::hold()'s.
    [[nodiscard]] static Result<RunMirror> resume(const std::filesystem::path& directory, FileDescriptor held,
                                                  const RunStarted& started, const RunFile& there, RemoteRun remote);

    /// Notes that the run has finished there, after its store was taken over. `held` as in resume().
    [[nodiscard]] static Status conclude(const std::filesystem::path& directory, FileDescriptor held,
                                         const RunFile& there);

    [[nodiscard]] const std::filesystem::path& directory() const { return m_recorder.directory(); }
    /// Records an event of the run. Returns an error if it cannot be written, which the next event tries again.
    [[nodiscard]] Status add(const Event& event);
    /// True if records wait in memory.
    [[nodiscard]] bool isBuffered() const { return m_recorder.isBuffered(); }
    /// True if another process has asked for the run's end by now (stop_request.h).
    [[nodiscard]] bool isToStop() const;
    /// Returns notes about the record since the last call.
    [[nodiscard]] std::vector<std::string> takeNotes() { return m_recorder.takeNotes(); }

private:
    explicit RunMirror(Recorder recorder) : m_recorder(std::move(recorder)) {}
    [[nodiscard]] Status record(const Progress& progress);
    [[nodiscard]] Status record(const CheckpointWritten& written);
    [[nodiscard]] Status record(const RunPaused& paused) { return m_recorder.add(paused); }
    [[nodiscard]] Status record(const RunContinued& continued) { return m_recorder.add(continued); }
    [[nodiscard]] Status record(const RunEnded& ended);

    Recorder m_recorder;
};

} // namespace residua::engine
