// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "engine/runs/data_part.h"
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
struct RunFile;

/// Writes a run directory:
///   run.json               what the run is (RunInfo), replaced atomically
///   project/project.json   the frozen project
///   store.sqlite           metrics, matrices, events (WAL; readable while it grows)
///   events.out.tfevents.*  the same scalars for TensorBoard
///   checkpoints/step-N/    complete or absent (checkpoint.h)
/// A lock file held by the writing process tells a running run from a killed one. One thread.
/// Failed writes (disk full) surface as the Status of flush(); nothing earlier is harmed.
class RunWriter {
public:
    /// The directory must not exist, or be empty but for what a run left that was cut off before it began. `data` is
    /// what the examples come from.
    [[nodiscard]] static Result<RunWriter> create(const std::filesystem::path& runDirectory, RunInfo info,
                                                  const projects::Project& project,
                                                  const std::filesystem::path& projectDirectory,
                                                  std::optional<DataFingerprint> data = std::nullopt);
    /// In a directory of its own in `folder`, named after the time and the project: of runs that begin at the same
    /// moment each gets another. What such runs left there that were cut off before they began is removed.
    [[nodiscard]] static Result<RunWriter> createIn(const std::filesystem::path& folder, RunInfo info,
                                                    const projects::Project& project,
                                                    const std::filesystem::path& projectDirectory,
                                                    std::optional<DataFingerprint> data = std::nullopt);
    /// Keeps other processes from writing an existing run. Refused while one does.
    [[nodiscard]] static Result<FileDescriptor> hold(const std::filesystem::path& runDirectory);
    /// Opens an existing run to go on from `step`: rows, events and checkpoints beyond it are dropped, and TensorBoard
    /// is told to forget them. A store that is lost or damaged is replaced by a fresh one. `held` is hold()'s.
    [[nodiscard]] static Result<RunWriter> reopen(const std::filesystem::path& runDirectory, std::int64_t step,
                                                  FileDescriptor held);
    [[nodiscard]] static Result<RunWriter> reopen(const std::filesystem::path& runDirectory, std::int64_t step);
    RunWriter(RunWriter&&) noexcept;
    RunWriter& operator=(RunWriter&&) noexcept;
    ~RunWriter();

    /// Buffered; cost nothing but memory until flush().
    void step(const StepRecord& record);
    void metric(const std::string& name, std::int64_t step, double value);
    void matrix(const Matrix& matrix);
    void event(const RunEvent& event);

    /// One transaction for all that was buffered; on error the buffer stays and the next flush tries again. So it does,
    /// without an error, while another process holds the store. A store that is damaged is replaced by a fresh one.
    [[nodiscard]] Status flush();
    [[nodiscard]] bool isBuffered() const;
    /// What a person should know of the record, since the last call.
    [[nodiscard]] std::vector<std::string> takeNotes();

    [[nodiscard]] const RunInfo& info() const;
    /// Replaces run.json, but for name, tags and notes, which a person may have changed meanwhile (renameRun,
    /// annotateRun), and the membership, which stays what it was when the run was made.
    [[nodiscard]] Status update(const RunInfo& info);
    /// Where relative data paths start from now on, and what the data are; update() writes it.
    void setSource(const std::filesystem::path& projectDirectory, DataFingerprint data);
    [[nodiscard]] const std::filesystem::path& directory() const;

private:
    class Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);
    static Result<RunWriter> begin(HeldDirectory held, RunFile file, const projects::Project& project);
    std::unique_ptr<Impl> m_impl;
};

} // namespace residua::engine
