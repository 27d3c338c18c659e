// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/machine/background_files.h"

#include "engine/base/machine/machine.h"
#include "projects/base/text.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

namespace residua::engine {
namespace {

constexpr int kQueuedPrograms = 8;
constexpr std::size_t kMostDigits = 20; ///< of a process id

std::filesystem::path folderPath()
{
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime == '/') {
        return std::filesystem::path(runtime) / "residua";
    }
    const std::filesystem::path cache = userCacheFolder();
    return cache.empty() ? cache : cache / "background";
}

struct flock wholeFile()
{
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

FileDescriptor openLock(const BackgroundFiles& files)
{
    return FileDescriptor(::open(files.lock().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

bool isLocked(const FileDescriptor& file)
{
    struct flock lock = wholeFile();
    return file.isOpen() && fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// The address of a socket, by its open folder: the path of a socket may have 107 bytes only.
class Address {
public:
    explicit Address(const std::filesystem::path& socket)
        : m_folder(::open(socket.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW))
    {
        m_address.sun_family = AF_UNIX;
        const std::string path = "/proc/self/fd/" + std::to_string(m_folder.get()) + "/" + socket.filename().string();
        path.copy(m_address.sun_path, sizeof m_address.sun_path - 1);
    }
    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&m_address); }
    static constexpr socklen_t kSize = sizeof(sockaddr_un);

private:
    FileDescriptor m_folder;
    sockaddr_un m_address{};
};

} // namespace

Result<BackgroundFiles> backgroundFiles()
{
    const std::filesystem::path folder = folderPath();
    if (folder.empty()) {
        return Error{"background engine", "has no folder: neither XDG_RUNTIME_DIR nor HOME is set"};
    }
    std::error_code failed;
    std::filesystem::create_directories(folder.parent_path(), failed);
    if (failed) {
        return systemError(folder.parent_path(), "cannot be created", failed.value());
    }
    if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return systemError(folder, "cannot be created", errno);
    }
    struct stat found {};
    if (lstat(folder.c_str(), &found) != 0) {
        return systemError(folder, "cannot be read", errno);
    }
    constexpr unsigned kOfOthers = S_IRWXG | S_IRWXO;
    if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & kOfOthers) != 0) {
        return Error{folder.string(),
                     "is not a folder of this user alone, which the background engine needs: remove it, or chmod 700"};
    }
    return BackgroundFiles{folder};
}

FileDescriptor readBackgroundLog()
{
    const std::filesystem::path folder = folderPath();
    FileDescriptor file;
    if (!folder.empty()) {
        file = FileDescriptor(
            ::open(BackgroundFiles{folder}.log().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    }
    struct stat found {};
    const bool isOwn =
        file.isOpen() && fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid();
    return isOwn ? std::move(file) : FileDescriptor();
}

Result<FileDescriptor> lockBackground(const BackgroundFiles& files)
{
    FileDescriptor file(
        ::open(files.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR));
    if (!file.isOpen()) {
        return systemError(files.lock(), "cannot be created", errno);
    }
    struct flock lock = wholeFile();
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) {
        if (errno != EAGAIN && errno != EACCES) {
            return systemError(files.lock(), "cannot be locked", errno);
        }
        file = {};
    }
    return file;
}

bool isLockOf(const BackgroundFiles& files, const FileDescriptor& lock)
{
    struct stat named {};
    struct stat held {};
    // The kernel tells of a removed file before its name is gone; the file has no links then.
    return lstat(files.lock().c_str(), &named) == 0 && named.st_nlink > 0 && fstat(lock.get(), &held) == 0 &&
           named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

void noteBackgroundOwner(const FileDescriptor& lock)
{
    const std::string id = std::to_string(getpid());
    [[maybe_unused]] const bool noted =
        ftruncate(lock.get(), 0) == 0 && pwrite(lock.get(), id.data(), id.size(), 0) > 0;
}

bool isBackgroundLocked(const BackgroundFiles& files)
{
    const FileDescriptor file = openLock(files);
    return isLocked(file);
}

std::optional<pid_t> backgroundOwner(const BackgroundFiles& files)
{
    const FileDescriptor file = openLock(files);
    std::string id(kMostDigits, '\0');
    const ssize_t got = isLocked(file) ? pread(file.get(), id.data(), id.size(), 0) : 0;
    id.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return numberFrom<pid_t>(id);
}

Result<FileDescriptor> listenInBackground(const BackgroundFiles& files)
{
    const Address address(files.socket());
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    unlink(files.socket().c_str());
    const mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    const bool bound = socket.isOpen() && bind(socket.get(), address.get(), Address::kSize) == 0;
    umask(before);
    if (!bound || listen(socket.get(), kQueuedPrograms) != 0) {
        return systemError(files.socket(), "cannot be listened on", errno);
    }
    return socket;
}

Result<FileDescriptor> connectToBackground(const BackgroundFiles& files)
{
    const Address address(files.socket());
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.isOpen() || connect(socket.get(), address.get(), Address::kSize) != 0) {
        if (errno != ENOENT && errno != ECONNREFUSED) {
            return systemError(files.socket(), "cannot be connected to", errno);
        }
        return FileDescriptor();
    }
    if (!isOwnPeer(socket.get())) {
        return Error{files.socket().string(), "belongs to a process of another user"};
    }
    return socket;
}

bool isOwnPeer(int connection)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

} // namespace residua::engine
