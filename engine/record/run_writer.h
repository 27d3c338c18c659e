// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/project.h"
#include "projects/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace residua::engine {

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
    /// The directory must not exist.
    [[nodiscard]] static Result<RunWriter> create(const std::filesystem::path& runDirectory, RunInfo info,
                                                  const projects::Project& project,
                                                  const std::filesystem::path& projectDirectory);
    /// Opens an existing run to go on from `step`: rows, events and checkpoints beyond it are dropped, and TensorBoard
    /// is told to forget them. Refused while another process writes it.
    [[nodiscard]] static Result<RunWriter> reopen(const std::filesystem::path& runDirectory, std::int64_t step);
    RunWriter(RunWriter&&) noexcept;
    RunWriter& operator=(RunWriter&&) noexcept;
    ~RunWriter();

    /// Buffered; cost nothing but memory until flush().
    void step(const StepRecord& record);
    void metric(const std::string& name, std::int64_t step, double value);
    void matrix(const Matrix& matrix);
    void event(const RunEvent& event);

    /// One transaction for all that was buffered; on error the buffer stays and the next flush tries again.
    [[nodiscard]] Status flush();

    [[nodiscard]] const RunInfo& info() const;
    /// Replaces run.json, but for tags and notes: those are annotateRun's, and may have changed meanwhile.
    [[nodiscard]] Status update(const RunInfo& info);
    [[nodiscard]] const std::filesystem::path& directory() const;

private:
    class Impl;
    explicit RunWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

/// The project directory that relative data paths of a run start from.
[[nodiscard]] Result<std::filesystem::path> projectDirectoryOf(const std::filesystem::path& runDirectory);

} // namespace residua::engine
