// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/record/files.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace residua::engine {

Error systemError(const std::filesystem::path& path, const std::string& what, int code)
{
    return {path.string(), what + ": " + std::generic_category().message(code)};
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

void FileDescriptor::close()
{
    if (m_fd >= 0) {
        ::close(std::exchange(m_fd, -1));
    }
}

Result<MappedFile> MappedFile::open(const std::filesystem::path& path)
{
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.isOpen()) {
        return systemError(path, "cannot open the file", errno);
    }
    struct stat info = {};
    if (::fstat(file.get(), &info) != 0) {
        return systemError(path, "cannot read the file's size", errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return Error{path.string(), "is not a regular file"};
    }
    MappedFile mapped;
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size > 0) { // an empty mapping is refused by the system
        void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (memory == MAP_FAILED) {
            return systemError(path, "cannot map the file", errno);
        }
        mapped.m_bytes = {static_cast<const std::byte*>(memory), size};
    }
    return mapped;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

MappedFile::~MappedFile()
{
    if (!m_bytes.empty()) {
        ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
    }
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
        // One call takes at most about 2 GiB.
        const std::size_t chunk = std::min<std::size_t>(bytes.size() - done, std::size_t{1} << 30);
        const ssize_t written = ::write(m_file.get(), bytes.data() + done, chunk);
        if (written > 0) {
            done += static_cast<std::size_t>(written);
            continue;
        }
        if (written < 0 && errno == EINTR) {
            continue;
        }
        const int code = written == 0 ? ENOSPC : errno;
        // Best effort: what a full disk kept of these bytes would look like a damaged record.
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

Status syncDirectory(const std::filesystem::path& directory)
{
    const FileDescriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!file.isOpen()) {
        return systemError(directory, "cannot open the directory", errno);
    }
    // Some file systems cannot sync a directory and say so; they need none.
    if (::fsync(file.get()) != 0 && errno != EINVAL) {
        return systemError(directory, "cannot bring the directory to the disk", errno);
    }
    return Done{};
}

} // namespace residua::engine
