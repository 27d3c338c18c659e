// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace residua {

/// Renames the folder `from` to `to`. Where that exists, both change places, so that one whole folder is there at any
/// moment; a file system that cannot do that removes it first.
[[nodiscard]] Status replaceFolder(const std::filesystem::path& from, const std::filesystem::path& to);

/// A new folder for unfinished work, removed with all that is in it unless it was kept. It is locked while it is in
/// use. One whose process was killed is removed by the next process that makes one in the same place.
class ScratchFolder {
public:
    /// Makes <folder>/<prefix><process>-<number>, where nothing else has such names; `mode` as for mkdir.
    [[nodiscard]] static Result<ScratchFolder> make(const std::filesystem::path& folder, const std::string& prefix,
                                                    std::uint32_t mode = 0777);
    /// Makes a hidden folder beside `place`, whose parent exists.
    [[nodiscard]] static Result<ScratchFolder> beside(const std::filesystem::path& place);
    ScratchFolder(ScratchFolder&& other) noexcept
        : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock))
    {
    }
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Leaves the folder to the caller, who has renamed it.
    void keep() { m_path.clear(); }

private:
    ScratchFolder(std::filesystem::path path, FileDescriptor lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}

    std::filesystem::path m_path; ///< empty: kept, or moved away
    FileDescriptor m_lock;        ///< the folder itself
};

} // namespace residua
