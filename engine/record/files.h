// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/result.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

namespace residua::engine {

/// The error of a system call that has just failed: `what` and the system's reason, at `path`.
[[nodiscard]] Error systemError(const std::filesystem::path& path, const std::string& what, int code);

/// A file descriptor that closes itself.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : m_fd(fd) {}
    FileDescriptor(FileDescriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept;
    ~FileDescriptor();

    [[nodiscard]] int get() const { return m_fd; }
    [[nodiscard]] bool isOpen() const { return m_fd >= 0; }
    void close();

private:
    int m_fd = -1;
};

/// A whole file as memory, read only. What another process cuts off while it is mapped cannot be read any more,
/// so files that are still being replaced are replaced by rename.
class MappedFile {
public:
    [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path);
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}
    MappedFile& operator=(MappedFile&& other) noexcept;
    ~MappedFile();

    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }

private:
    std::span<const std::byte> m_bytes;
};

/// A file being written. Every write is complete or an error (disk full, size limit, …).
class OutputFile {
public:
    /// Creates or empties `path`.
    [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path);

    /// On error the file is cut back to what it held before.
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// Returns once the bytes are on the disk.
    [[nodiscard]] Status sync();
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    FileDescriptor m_file;
    std::filesystem::path m_path;
    std::size_t m_size = 0;
};

/// Makes renames and new names in `directory` last.
[[nodiscard]] Status syncDirectory(const std::filesystem::path& directory);

[[nodiscard]] inline std::span<const std::byte> asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace residua::engine
