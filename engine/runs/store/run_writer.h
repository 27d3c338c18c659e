// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "engine/runs/store/run_files.h"
#include "projects/base/files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace residua::engine {

struct HeldDirectory;
struct RemoteRun;
struct RunFile;

/// Writes a run directory:
///   run.json               what the run is (RunInfo), replaced atomically
///   project/project.json   the frozen project
///   store.sqlite           metrics, matrices, events (WAL; readable while it grows)
///   events.out.tfevents.*  the same metrics, and the mixing weights of up to 1,000 shortcuts, for TensorBoard
///   checkpoints/step-N/    complete or absent (checkpoint.h)
/// A lock file held by the writing process distinguishes a running run from a killed one. One thread. flush() reports
/// failed writes (disk full); earlier data are unaffected.
class RunWriter {
public:
    /// Creates a run. The directory must not exist or must be empty, apart from the files of a run that was interrupted
    /// before it began. `data` is the fingerprint of the examples.
    [[nodiscard]] static Result<RunWriter> create(const std::filesystem::path& runDirectory, RunInfo info,
                                                  const projects::Project& project,
                                                  const std::filesystem::path& projectDirectory,
                                                  std::optional<DataFingerprint> data = std::nullopt);
    /// Creates a run in a new directory in `folder`, named after the time and the project. Runs that begin at the same
    /// moment get different directories. Removes the files there of runs that were interrupted before they began.
    [[nodiscard]] static Result<RunWriter> createIn(const std::filesystem::path& folder, RunInfo info,
                                                    const projects::Project& project,
                                                    const std::filesystem::path& projectDirectory,
                                                    std::optional<DataFingerprint> data = std::nullopt);
    /// Prevents other processes from writing an existing run. Refused while one does.
    [[nodiscard]] static Result<FileDescriptor> hold(const std::filesystem::path& runDirectory);
    /// Opens an existing run to continue from `step`: drops rows, events and checkpoints after it, and tells
    /// TensorBoard to discard them; nullopt keeps them. A lost or damaged store is replaced by a new one. `held` is the
    /// result of hold().
    [[nodiscard]] static Result<RunWriter> reopen(const std::filesystem::path& runDirectory,
                                                  std::optional<std::int64_t> step, FileDescriptor held);
    [[nodiscard]] static Result<RunWriter> reopen(const std::filesystem::path& runDirectory, std::int64_t step);
    /// Opens an existing run to add to its record, which is kept. Refused while another process writes it.
    [[nodiscard]] static Result<RunWriter> append(const std::filesystem::path& runDirectory);
    RunWriter(RunWriter&&) noexcept;
    RunWriter& operator=(RunWriter&&) noexcept;
    ~RunWriter();

    /// These functions buffer in memory until flush().
    void step(const StepRecord& record);
    void metric(const std::string& name, std::int64_t step, double value);
    void matrix(const Matrix& matrix);
    void event(const RunEvent& event);

    /// Writes everything buffered in one transaction. On error the buffer is kept and the next flush tries again; if
    /// another process holds the store, the same happens without an error. A damaged store is replaced by a new one.
    [[nodiscard]] Status flush();
    [[nodiscard]] bool isBuffered() const;
    /// Returns the notes about the record since the last call, for the user.
    [[nodiscard]] std::vector<std::string> takeNotes();

    [[nodiscard]] const RunInfo& info() const;
    /// Replaces run.json, except for name, tags and notes, which the user may have changed (renameRun, annotateRun),
    /// and the membership, which is fixed when the run is made.
    [[nodiscard]] Status update(const RunInfo& info);
    /// Sets the start of relative data paths and the data's fingerprint, which update() writes.
    void setSource(const std::filesystem::path& projectDirectory, DataFingerprint data);
    /// Sets the run on another machine that this one records, and its identity, which update() writes.
    void setRemote(RemoteRun remote, std::string identity);
    [[nodiscard]] const std::filesystem::path& directory() const;

private:
    class Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);
    static Result<RunWriter> begin(HeldDirectory held, RunFile file, const projects::Project& project);
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::engine
