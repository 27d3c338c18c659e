// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/runs/store/run_directory.h"
#include "projects/base/result.h"
#include "projects/base/scratch_folder.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// A new run that becomes visible only when complete. It is written beside its place, which is claimed meanwhile, and
/// then renamed. If the process is killed before that, the next process takes over or removes its files.
class NewRun {
public:
    /// Claims `directory` as claimRunDirectory() does.
    [[nodiscard]] static Result<NewRun> begin(const std::filesystem::path& directory);
    /// Claims a directory in `folder` as claimRunDirectoryIn() does, and removes interrupted runs there.
    [[nodiscard]] static Result<NewRun> beginIn(const std::filesystem::path& folder, const std::string& name);
    NewRun(NewRun&& other) noexcept = default;
    NewRun& operator=(NewRun&&) = delete;
    ~NewRun();

    /// Returns the place of the run.
    [[nodiscard]] const std::filesystem::path& directory() const { return m_claimed.path; }
    /// Returns the folder to write it in: an empty one beside its place.
    [[nodiscard]] const std::filesystem::path& scratch() const { return m_scratch.path(); }
    /// Moves the run to its place. Its writer must be closed.
    [[nodiscard]] Status keep();

private:
    NewRun(HeldDirectory claimed, ScratchFolder scratch) : m_claimed(std::move(claimed)), m_scratch(std::move(scratch))
    {
    }
    [[nodiscard]] static Result<NewRun> in(Result<HeldDirectory> claimed);

    HeldDirectory m_claimed; ///< its lock is closed once the run is kept
    ScratchFolder m_scratch;
};

} // namespace residua::engine
