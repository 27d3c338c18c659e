// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/files.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua {
namespace {

constexpr std::size_t kLongestCall = std::size_t{1} << 30; // one call moves at most about 2 GiB

Status broughtToDisk(const FileDescriptor& file, const std::filesystem::path& path)
{
    // Some file systems cannot sync a directory and report that. They do not need it.
    if (::fsync(file.get()) != 0 && errno != EINVAL) {
        return systemError(path, "cannot be brought to the disk", errno);
    }
    return Done{};
}

} // namespace

std::string otherKindOf(std::uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return {};
    case S_IFDIR:
        return "a folder";
    case S_IFLNK:
        return "a link";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

Error notAFile(const std::filesystem::path& path, const std::string& kind)
{
    return {path.string(), "is " + kind + "; expected a file"};
}

Error systemError(const std::filesystem::path& path, const std::string& what, int code)
{
    return {path.string(), what + ": " + std::generic_category().message(code)};
}

bool isThere(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

bool isFolder(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored);
}

bool isFile(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

void discard(const std::filesystem::path& path)
{
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept
{
    if (this != &other) {
        close();
        m_fd = std::exchange(other.m_fd, -1);
    }
    return *this;
}

FileDescriptor::~FileDescriptor()
{
    close();
}

int FileDescriptor::close()
{
    const int fd = std::exchange(m_fd, -1);
    return fd < 0 ? 0 : ::close(fd);
}

Result<FileDescriptor> openRegularFile(const std::filesystem::path& path)
{
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return systemError(path, "cannot be read", errno);
    }
    if (const std::string kind = otherKindOf(status.st_mode); !kind.empty()) {
        return notAFile(path, kind); // checked before opening, because opening a device can have an effect
    }
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    // Checked again on the opened file, because the path may have been replaced in between.
    if (!file.isOpen() || ::fstat(file.get(), &status) != 0) {
        return systemError(path, "cannot be read", errno);
    }
    if (const std::string kind = otherKindOf(status.st_mode); !kind.empty()) {
        return notAFile(path, kind);
    }
    return file;
}

Result<std::size_t> readFrom(const FileDescriptor& file, const std::filesystem::path& path, std::uint64_t offset,
                             std::span<std::byte> out)
{
    std::size_t done = 0;
    while (done < out.size()) {
        const std::size_t chunk = std::min(out.size() - done, kLongestCall);
        const ssize_t got = ::pread(file.get(), out.data() + done, chunk, static_cast<off_t>(offset + done));
        if (got < 0 && errno != EINTR) {
            return systemError(path, "cannot read the file", errno);
        }
        if (got == 0) {
            break;
        }
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    return done;
}

Result<InputFile> InputFile::open(const std::filesystem::path& path)
{
    FileDescriptor opened = RESIDUA_TRY(openRegularFile(path));
    InputFile file;
    file.m_file = std::move(opened);
    file.m_path = path;
    file.m_stamp = RESIDUA_TRY(stampOf(file.m_file, path));
    return file;
}

Result<InputFile::Stamp> InputFile::stampOf(const FileDescriptor& file, const std::filesystem::path& path)
{
    struct stat info = {};
    if (::fstat(file.get(), &info) != 0) {
        return systemError(path, "cannot read the file's size", errno);
    }
    return Stamp{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size), info.st_mtim.tv_sec,
                 info.st_mtim.tv_nsec};
}

Status InputFile::read(std::uint64_t offset, std::span<std::byte> out) const
{
    if (m_file.isOpen()) {
        return read(m_file, offset, out);
    }
    const Result<FileDescriptor> opened = openRegularFile(m_path);
    return opened ? read(*opened, offset, out) : Status(opened.error());
}

Status InputFile::read(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> out) const
{
    const std::size_t done = RESIDUA_TRY(readFrom(file, m_path, offset, out));
    const Stamp now = RESIDUA_TRY(stampOf(file, m_path));
    if (now == m_stamp && done == out.size()) {
        return Done{};
    }
    if (now.size != m_stamp.size) {
        return Error{m_path.string(), "was changed while it was in use: it has " + std::to_string(now.size) +
                                          " bytes, and had " + std::to_string(m_stamp.size)};
    }
    return Error{m_path.string(), "was rewritten while it was in use"};
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path)
{
    OutputFile file;
    file.m_file = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file.m_file.isOpen()) {
        return systemError(path, "cannot create the file", errno);
    }
    file.m_path = path;
    return file;
}

Status OutputFile::write(std::span<const std::byte> bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const std::size_t chunk = std::min(bytes.size() - done, kLongestCall);
        const ssize_t written = ::write(m_file.get(), bytes.data() + done, chunk);
        if (written > 0) {
            done += static_cast<std::size_t>(written);
            continue;
        }
        if (written < 0 && errno == EINTR) {
            continue;
        }
        const int code = written == 0 ? ENOSPC : errno;
        // Best effort: the part of the bytes that a full disk has kept would look like a damaged record.
        if (::ftruncate(m_file.get(), static_cast<off_t>(m_size)) == 0) {
            ::lseek(m_file.get(), static_cast<off_t>(m_size), SEEK_SET);
        }
        return systemError(m_path, "wrote " + std::to_string(done) + " of " + std::to_string(bytes.size()) + " bytes",
                           code);
    }
    m_size += bytes.size();
    return Done{};
}

Status OutputFile::sync()
{
    if (::fsync(m_file.get()) != 0) {
        return systemError(m_path, "cannot bring the file to the disk", errno);
    }
    return Done{};
}

bool writeBytes(int descriptor, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kLongestCall));
        if (written < 0 && errno != EINTR) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

FileDescriptor createNewFile(const std::filesystem::path& path, std::uint32_t mode)
{
    return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
}

bool finishFile(FileDescriptor& file)
{
    return ::fsync(file.get()) == 0 && file.close() == 0;
}

Status syncFile(const std::filesystem::path& path)
{
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return file.isOpen() ? broughtToDisk(file, path) : Status(systemError(path, "cannot open the file", errno));
}

Status syncDirectory(const std::filesystem::path& directory)
{
    const FileDescriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return file.isOpen() ? broughtToDisk(file, directory)
                         : Status(systemError(directory, "cannot open the directory", errno));
}

} // namespace residua
