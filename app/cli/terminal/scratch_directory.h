// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>
#include <utility>

namespace residua::cli {

/// A new directory among the system's temporary files that is removed with all that is in it. One whose process was
/// killed is removed by the next process that makes one.
class ScratchDirectory {
public:
    /// `prefix` names its kind: "residua-bench-". Errors name TMPDIR where that is what is wrong.
    [[nodiscard]] static Result<ScratchDirectory> make(const std::string& prefix);
    ScratchDirectory(ScratchDirectory&& other) noexcept
        : m_path(std::exchange(other.m_path, {})), m_lock(std::exchange(other.m_lock, -1))
    {
    }
    ScratchDirectory& operator=(ScratchDirectory&&) = delete;
    ~ScratchDirectory();

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    ScratchDirectory(std::filesystem::path path, int lock) : m_path(std::move(path)), m_lock(lock) {}

    std::filesystem::path m_path; ///< empty: moved away
    int m_lock = -1;              ///< the directory, opened and locked for as long as it is in use
};

} // namespace residua::cli
