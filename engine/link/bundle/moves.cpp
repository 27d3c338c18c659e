// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/link/bundle/moves.h"

#include "engine/runs/results/run_upkeep.h"
#include "projects/base/files.h"
#include "projects/base/whole_file.h"

#include <cerrno>
#include <ranges>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace residua::engine {
namespace {

namespace fs = std::filesystem;

Error cannotBePut(const fs::path& to, int code)
{
    return systemError(to, "cannot be put there", code);
}

/// Renames without replacing an existing file. Returns 0 or an error number.
int renameTo(const fs::path& from, const fs::path& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return 0;
    }
    const int code = errno;
    std::error_code other;
    const bool unknown = code == EINVAL || code == ENOSYS; // to this file system
    if (!unknown || fs::exists(fs::symlink_status(to, other))) {
        return code;
    }
    fs::rename(from, to, other);
    return other.value();
}

/// Copies a file, or a folder with its contents, and returns once it is on the disk.
Status copyTo(const fs::path& from, const fs::path& to)
{
    std::error_code code;
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, code);
    if (code) {
        return cannotBePut(to, code.value());
    }
    if (!fs::is_directory(to, code)) {
        return syncFile(to);
    }
    fs::recursive_directory_iterator entry(to, code);
    for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
        std::error_code gone;
        const fs::path& path = entry->path();
        RESIDUA_TRY(entry->is_directory(gone) ? syncDirectory(path) : syncFile(path));
    }
    return code ? Status(cannotBePut(to, code.value())) : syncDirectory(to);
}

/// Copies to a temporary name beside the target, then renames, so that no reader sees a partial copy.
Status copyAcross(const fs::path& from, const fs::path& to)
{
    const fs::path copy = temporaryBeside(to.parent_path() / ("." + to.filename().string()));
    discard(copy);
    Status put = copyTo(from, copy);
    if (put) {
        const int code = renameTo(copy, to);
        put = code == 0 ? Status(Done{}) : Status(cannotBePut(to, code));
    }
    discard(put ? from : copy);
    return put;
}

} // namespace

Status putAt(const fs::path& from, const fs::path& to)
{
    const int code = renameTo(from, to);
    if (code != 0 && code != EXDEV) {
        return cannotBePut(to, code);
    }
    const Status put = code == EXDEV ? copyAcross(from, to) : Status(Done{});
    return put ? syncDirectory(to.parent_path()) : put;
}

MadeFolders::~MadeFolders()
{
    for (const fs::path& folder : m_made | std::views::reverse) {
        std::error_code ignored;
        fs::remove(folder, ignored);
    }
}

Status MadeFolders::make(const fs::path& folder)
{
    std::error_code code;
    if (folder.empty() || fs::is_directory(folder, code)) {
        return Done{};
    }
    if (folder.has_parent_path() && folder.parent_path() != folder) {
        RESIDUA_TRY(make(folder.parent_path()));
    }
    if (fs::create_directory(folder, code)) {
        m_made.push_back(folder);
    }
    return code ? Status(systemError(folder, "cannot be made", code.value())) : Status(Done{});
}

Moves::~Moves()
{
    for (const auto& [from, to] : m_done | std::views::reverse) {
        static_cast<void>(putAt(to, from)); // the caller reports the error that led here
    }
    for (const fs::path& run : m_trashed) {
        std::error_code ignored;
        fs::remove(run.parent_path(), ignored); // removes the trash if it is empty
    }
}

Status Moves::move(const fs::path& from, const fs::path& to)
{
    RESIDUA_TRY(m_folders.make(to.parent_path()));
    RESIDUA_TRY(putAt(from, to));
    m_done.emplace_back(from, to);
    return Done{};
}

Result<fs::path> Moves::trash(const fs::path& run)
{
    auto trashed = trashRun(run);
    if (trashed) {
        m_done.emplace_back(run, *trashed);
        m_trashed.push_back(*trashed);
    }
    return trashed;
}

void Moves::keep()
{
    m_done.clear();
    m_trashed.clear();
    m_folders.keep();
}

} // namespace residua::engine
