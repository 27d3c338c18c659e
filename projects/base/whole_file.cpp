// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/whole_file.h"

#include "projects/base/files.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua {

namespace fs = std::filesystem;

namespace {

/// Makes a write to a closed pipe an error (EPIPE) instead of the end of the process.
class BrokenPipesAreErrors {
public:
    BrokenPipesAreErrors()
    {
        ::sigemptyset(&m_pipe);
        ::sigaddset(&m_pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_before);
    }
    ~BrokenPipesAreErrors()
    {
        const timespec now = {};
        if (::sigismember(&m_before, SIGPIPE) == 0) {
            ::sigtimedwait(&m_pipe, nullptr, &now); // discards a SIGPIPE that has come meanwhile
        }
        ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
    BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;

private:
    sigset_t m_pipe = {};
    sigset_t m_before = {};
};

/// Writes `bytes` to a new file with mode `mode`, that of the file to be replaced, or with the user's default mode.
/// Returns 0 or the errno of the failure.
int writeNewFile(const fs::path& path, std::string_view bytes, std::optional<mode_t> mode)
{
    constexpr mode_t kDefaultMode = 0666; // less the user's umask
    FileDescriptor file = createNewFile(path, mode.value_or(kDefaultMode));
    if (!file.isOpen() || (mode && ::fchmod(file.get(), *mode) != 0) || !writeBytes(file.get(), asBytes(bytes)) ||
        !finishFile(file)) {
        return errno;
    }
    return 0;
}

fs::path folderOf(const fs::path& file)
{
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// Replaces `target`; `old` is the status of the existing file, if any. `path` is the name for errors.
Status replaceFile(const fs::path& path, const fs::path& target, const std::optional<struct stat>& old,
                   std::string_view bytes)
{
    const fs::path temporary = temporaryBeside(target);
    int failure = writeNewFile(temporary, bytes, old ? std::optional<mode_t>(old->st_mode & 07777) : std::nullopt);
    if (failure == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) {
        failure = errno;
    }
    if (failure != 0) {
        ::unlink(temporary.c_str());
        return Error{path.string(), "cannot be written: " + std::generic_category().message(failure) +
                                        (old ? "; its earlier content is kept" : "")};
    }
    (void)syncDirectory(folderOf(target)); // the new content is in place even if this fails
    return Done{};
}

} // namespace

fs::path temporaryBeside(const fs::path& path)
{
    // The program and the engine's library may each contain a copy of this code and of its counter. Two threads could
    // then get the same number.
    static std::atomic<unsigned> counter{0};
    fs::path temporary = path;
    temporary += kTemporaryMark;
    temporary += std::to_string(::getpid()) + "-" + std::to_string(::gettid()) + "-" + std::to_string(counter++);
    return temporary;
}

bool isTemporaryOf(std::string_view name, std::string_view of)
{
    return name.starts_with(of) && name.substr(of.size()).starts_with(kTemporaryMark);
}

std::optional<int> writerOfTemporary(std::string_view name, std::string_view of)
{
    if (!isTemporaryOf(name, of)) {
        return std::nullopt;
    }
    name.remove_prefix(of.size() + kTemporaryMark.size());
    int process = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    return error == std::errc() && process > 0 ? std::optional(process) : std::nullopt;
}

Status replaceBy(const std::function<Status(const fs::path& temporary)>& write, const fs::path& path)
{
    const fs::path temporary = temporaryBeside(path);
    std::error_code code;
    Status status = write(temporary);
    if (status) {
        fs::rename(temporary, path, code);
        status = code ? Status(systemError(path, "cannot be written", code.value())) : status;
    }
    if (!status) {
        fs::remove(temporary, code);
        return status;
    }
    return syncDirectory(folderOf(path));
}

Status writeFileAtomically(const fs::path& path, std::string_view bytes)
{
    // A link is kept, and the file that it points to is replaced.
    std::error_code broken;
    const fs::path target =
        fs::is_symlink(fs::symlink_status(path, broken)) ? fs::weakly_canonical(path, broken) : path;
    struct stat old {};
    const bool exists = ::stat(path.c_str(), &old) == 0;
    if (target.empty()) {
        return Error{path.string(), "cannot be written: " + broken.message()};
    }
    if (exists && !S_ISREG(old.st_mode)) {
        return notAFile(path, otherKindOf(old.st_mode));
    }
    return replaceFile(path, target, exists ? std::optional(old) : std::nullopt, bytes);
}

Status writeOwnFile(const fs::path& path, std::string_view bytes)
{
    struct stat old {};
    const bool exists = ::lstat(path.c_str(), &old) == 0 && !S_ISLNK(old.st_mode);
    if (exists && !S_ISREG(old.st_mode)) {
        return notAFile(path, otherKindOf(old.st_mode));
    }
    return replaceFile(path, path, exists ? std::optional(old) : std::nullopt, bytes); // the rename replaces a link
}

Status writeOutput(const fs::path& path, std::string_view bytes)
{
    struct stat there {};
    const bool stream = ::stat(path.c_str(), &there) == 0 && (S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode));
    if (!stream) {
        return writeFileAtomically(path, bytes);
    }
    const BrokenPipesAreErrors quiet;
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!file.isOpen() || !writeBytes(file.get(), asBytes(bytes)) || file.close() != 0) {
        return Error{path.string(), "cannot be written: " + std::generic_category().message(errno)};
    }
    return Done{};
}

Result<std::string> readFile(const fs::path& path, std::uint64_t most)
{
    const auto file = RESIDUA_TRY(InputFile::open(path));
    if (file.size() > most) {
        return Error{path.string(),
                     "is " + std::to_string(file.size()) + " bytes long; expected at most " + std::to_string(most)};
    }
    std::string bytes(file.size(), '\0');
    const Status read = file.read(0, std::as_writable_bytes(std::span(bytes)));
    return read ? Result<std::string>(std::move(bytes)) : Result<std::string>(read.error());
}

} // namespace residua
