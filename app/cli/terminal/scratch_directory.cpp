// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal/scratch_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

/// The directory, locked; nothing where it is none of ours or another process uses it.
std::optional<int> locked(const fs::path& directory)
{
    const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
        return std::nullopt;
    }
    struct stat opened {};
    struct stat named {};
    // Between its opening and its locking another process may have swept it away.
    if (fstat(descriptor, &opened) == 0 && opened.st_uid == geteuid() && flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
        lstat(directory.c_str(), &named) == 0 && named.st_ino == opened.st_ino) {
        return descriptor;
    }
    close(descriptor);
    return std::nullopt;
}

void sweep(const fs::path& folder, const std::string& prefix)
{
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
        if (!entry->path().filename().string().starts_with(prefix)) {
            continue;
        }
        if (const std::optional<int> lock = locked(entry->path())) {
            std::error_code ignored;
            fs::remove_all(entry->path(), ignored);
            close(*lock);
        }
    }
}

} // namespace

Result<ScratchDirectory> ScratchDirectory::make(const std::string& prefix)
{
    std::error_code code;
    const fs::path folder = fs::temp_directory_path(code);
    if (code) {
        const char* const named = std::getenv("TMPDIR");
        return Error{named != nullptr ? named : "/tmp",
                     "is no folder for temporary files: " + code.message() + "; set TMPDIR to one, or unset it"};
    }
    sweep(folder, prefix);
    constexpr int kTries = 16; // more than one is needed only if another process removes the folder before it is locked
    for (int i = 0; i < kTries; ++i) {
        std::string path = (folder / (prefix + "XXXXXX")).string();
        if (mkdtemp(path.data()) == nullptr) {
            return Error{folder.string(), "cannot make a temporary folder in it: " +
                                              std::generic_category().message(errno) + "; set TMPDIR to another"};
        }
        if (const std::optional<int> lock = locked(path)) {
            return ScratchDirectory(path, *lock);
        }
    }
    return Error{folder.string(), "cannot lock a temporary folder in it; set TMPDIR to another"};
}

ScratchDirectory::~ScratchDirectory()
{
    if (!m_path.empty()) {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
        close(m_lock);
    }
}

} // namespace residua::cli
