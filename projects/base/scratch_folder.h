// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace residua {

/// Renames the folder `from` to `to`. If `to` exists, the two are exchanged, so that a complete folder is there at any
/// moment. A file system that cannot exchange them removes `to` first.
[[nodiscard]] Status replaceFolder(const std::filesystem::path& from, const std::filesystem::path& to);

/// A new folder for unfinished work. The destructor removes it with its contents unless keep() was called. It is locked
/// while it is in use. The folder of a killed process is removed by the next process that makes one in the same place.
class ScratchFolder {
public:
    /// Makes <folder>/<prefix><process>-<number>. Nothing else in `folder` may have such names. `mode` as for mkdir.
    [[nodiscard]] static Result<ScratchFolder> make(const std::filesystem::path& folder, const std::string& prefix,
                                                    std::uint32_t mode = 0777);
    /// Makes a hidden folder beside `place`, whose parent must exist.
    [[nodiscard]] static Result<ScratchFolder> beside(const std::filesystem::path& place);
    /// True if a folder has a name that beside() gives.
    [[nodiscard]] static bool isBeside(const std::filesystem::path& folder);
    ScratchFolder(ScratchFolder&& other) noexcept
        : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock))
    {
    }
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Releases ownership, after the caller has renamed the folder.
    void keep() { m_path.clear(); }

private:
    ScratchFolder(std::filesystem::path path, FileDescriptor lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}

    std::filesystem::path m_path; ///< empty if kept or moved from
    FileDescriptor m_lock;        ///< a descriptor of the folder, which holds the lock
};

} // namespace residua
