// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace residua {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMaking = ".residua-making-";

/// The result of locking a folder.
struct Locking {
    FileDescriptor folder; ///< the opened folder
    enum class Outcome { Locked, Taken, Impossible } outcome = Outcome::Taken;
};

/// Locks a folder of this user. The outcome is Taken if another process uses it or has removed it, or if another user
/// owns it; Impossible if the file system has no locks.
Locking locked(const fs::path& folder)
{
    Locking locking{FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)), {}};
    struct stat there {};
    struct stat named {};
    if (!locking.folder.isOpen() || ::fstat(locking.folder.get(), &there) != 0 || there.st_uid != ::geteuid()) {
        return locking;
    }
    if (::flock(locking.folder.get(), LOCK_EX | LOCK_NB) != 0) {
        locking.outcome = errno == EWOULDBLOCK ? Locking::Outcome::Taken : Locking::Outcome::Impossible;
    } else if (::lstat(folder.c_str(), &named) == 0 && named.st_ino == there.st_ino) {
        locking.outcome = Locking::Outcome::Locked;
    }
    return locking;
}

void sweep(const fs::path& folder, const std::string& prefix)
{
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (!entry->path().filename().string().starts_with(prefix)) {
            continue;
        }
        if (const Locking leftover = locked(entry->path()); leftover.outcome == Locking::Outcome::Locked) {
            discard(entry->path());
        }
    }
}

} // namespace

Status replaceFolder(const fs::path& from, const fs::path& to)
{
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
        return Done{};
    }
    std::error_code code;
    if (errno != ENOENT) { // a file system that cannot exchange two names
        fs::remove_all(to, code);
    }
    fs::rename(from, to, code);
    return code ? Status(systemError(to, "cannot be put in place", code.value())) : Status(Done{});
}

Result<ScratchFolder> ScratchFolder::make(const fs::path& folder, const std::string& prefix, std::uint32_t mode)
{
    sweep(folder, prefix);
    const std::string name = prefix + std::to_string(::getpid()) + "-";
    for (int number = 0;; ++number) {
        const fs::path path = folder / (name + std::to_string(number));
        if (::mkdir(path.c_str(), mode) != 0) {
            if (errno != EEXIST) {
                return systemError(folder, "cannot be written", errno);
            }
            continue;
        }
        // Taken here means that another process has just removed the new folder as a leftover.
        if (Locking locking = locked(path); locking.outcome != Locking::Outcome::Taken) {
            return ScratchFolder(path, std::move(locking.folder));
        }
    }
}

Result<ScratchFolder> ScratchFolder::beside(const fs::path& place)
{
    const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
    return make(folder, kMaking);
}

bool ScratchFolder::isBeside(const fs::path& folder)
{
    return folder.filename().string().starts_with(kMaking);
}

ScratchFolder::~ScratchFolder()
{
    if (!m_path.empty()) {
        discard(m_path);
    }
}

} // namespace residua
