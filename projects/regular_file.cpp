// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/regular_file.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua::projects {
namespace {

/// What stands where a regular file should; empty for one.
std::string otherKind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return {};
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

} // namespace

Result<int> openRegularFile(const std::filesystem::path& path)
{
    const auto failed = [&] {
        return Error{path.string(), "cannot be read: " + std::generic_category().message(errno)};
    };
    const auto refused = [&](const std::string& kind) {
        return Error{path.string(), "is " + kind + "; expected a file"};
    };
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return failed();
    }
    if (const std::string kind = otherKind(status.st_mode); !kind.empty()) {
        return refused(kind); // before it is opened: opening a device may already do something
    }
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        return failed();
    }
    // Again, of what was opened: the name may have come to mean something else in between.
    if (::fstat(file, &status) != 0) {
        const Error error = failed();
        ::close(file);
        return error;
    }
    if (const std::string kind = otherKind(status.st_mode); !kind.empty()) {
        ::close(file);
        return refused(kind);
    }
    return file;
}

} // namespace residua::projects
