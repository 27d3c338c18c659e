// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace residua {

/// Makes the error of a failed system call from `what` and the system's reason for `code`, placed at `path`.
[[nodiscard]] Error systemError(const std::filesystem::path& path, const std::string& what, int code);

/// Names the kind of file that the system reports in `mode`: "a folder", "a FIFO". Empty for a regular file.
[[nodiscard]] std::string otherKindOf(std::uint32_t mode);
/// Makes the error that `path` is a `kind` and not a regular file.
[[nodiscard]] Error notAFile(const std::filesystem::path& path, const std::string& kind);

/// True if there is something at `path`, a folder or a regular file. A link counts as what it leads to. False if the
/// system cannot tell.
[[nodiscard]] bool isThere(const std::filesystem::path& path);
[[nodiscard]] bool isFolder(const std::filesystem::path& path);
[[nodiscard]] bool isFile(const std::filesystem::path& path);
/// Removes the file or the folder with its contents. Keeps what cannot be removed.
void discard(const std::filesystem::path& path);

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
    /// Returns the result of ::close, because a failing disk reports some errors only then. Returns 0 if already
    /// closed.
    int close();

private:
    int m_fd = -1;
};

/// Opens a regular file for reading. A folder, FIFO, socket or device is an error that names it. The call never waits
/// for a FIFO's writer and never opens a device.
[[nodiscard]] Result<FileDescriptor> openRegularFile(const std::filesystem::path& path);

/// Fills `out` with the bytes of an open file from `offset` on. Returns their number, which is less at the file's end.
[[nodiscard]] Result<std::size_t> readFrom(const FileDescriptor& file, const std::filesystem::path& path,
                                           std::uint64_t offset, std::span<std::byte> out);

/// A regular file that is read in pieces. It is never mapped: if another process truncates or rewrites the file, the
/// read returns an error, where a mapping would end the process with SIGBUS. Any thread.
class InputFile {
public:
    /// Returns an error if `path` is not a regular file. Never waits for a FIFO or reads a device.
    [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Size in bytes when the file was opened.
    [[nodiscard]] std::uint64_t size() const { return m_stamp.size; }
    /// Fills `out` with the bytes from `offset` on. offset + out.size() ≤ size(). Returns an error if the file's size
    /// or modification time has changed since it was opened.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const;
    /// Closes the descriptor. Each later read opens the file again and checks that it is still the same file.
    void release() { m_file.close(); }

private:
    /// Identifies one state of a file.
    struct Stamp {
        std::uint64_t device = 0;
        std::uint64_t node = 0;
        std::uint64_t size = 0;
        std::int64_t seconds = 0; ///< of the last change of its content
        std::int64_t nanoseconds = 0;
        bool operator==(const Stamp&) const = default;
    };
    [[nodiscard]] static Result<Stamp> stampOf(const FileDescriptor& file, const std::filesystem::path& path);
    [[nodiscard]] Status read(const FileDescriptor& file, std::uint64_t offset, std::span<std::byte> out) const;

    FileDescriptor m_file;
    std::filesystem::path m_path;
    Stamp m_stamp;
};

/// A file opened for writing. Every write is complete or an error (disk full, size limit, …).
class OutputFile {
public:
    /// Creates `path`, or empties it if it exists.
    [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path);

    /// On an error, truncates the file to its length before the call.
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// Returns once the bytes are on the disk.
    [[nodiscard]] Status sync();
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    FileDescriptor m_file;
    std::filesystem::path m_path;
    std::size_t m_size = 0;
};

/// Writes all bytes to an open descriptor. Returns false on failure, with the reason in errno.
[[nodiscard]] bool writeBytes(int descriptor, std::span<const std::byte> bytes);

/// Creates a new file for writing. If `path` exists, even as a link, no file is opened and errno is EEXIST.
[[nodiscard]] FileDescriptor createNewFile(const std::filesystem::path& path, std::uint32_t mode = 0666);
/// Syncs the file to the disk and closes it. Returns false on failure, with the reason in errno.
[[nodiscard]] bool finishFile(FileDescriptor& file);

/// Syncs a file that other code has written to the disk.
[[nodiscard]] Status syncFile(const std::filesystem::path& path);
/// Makes renames and new names in `directory` durable.
[[nodiscard]] Status syncDirectory(const std::filesystem::path& directory);

[[nodiscard]] inline std::span<const std::byte> asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace residua
