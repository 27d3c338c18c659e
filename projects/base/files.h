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

/// The error of a system call that has just failed: `what` and the system's reason, at `path`.
[[nodiscard]] Error systemError(const std::filesystem::path& path, const std::string& what, int code);

/// What stands where a regular file should, by the mode that the system gives: "a folder", "a FIFO"; empty for a file.
[[nodiscard]] std::string otherKindOf(std::uint32_t mode);
/// The error about it.
[[nodiscard]] Error notAFile(const std::filesystem::path& path, const std::string& kind);

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
    /// What ::close says: a failing disk keeps some errors for last. 0 where it is closed already.
    int close();

private:
    int m_fd = -1;
};

/// Opens a regular file for reading. A folder, FIFO, socket or device is an error that names it, at once: nothing waits
/// for a writer, and no device is touched.
[[nodiscard]] Result<FileDescriptor> openRegularFile(const std::filesystem::path& path);

/// Fills `out` with an open file's bytes from `offset` on, and says how many they are: fewer where the file ends.
[[nodiscard]] Result<std::size_t> readFrom(const FileDescriptor& file, const std::filesystem::path& path,
                                           std::uint64_t offset, std::span<std::byte> out);

/// A regular file that is read in pieces. It is never mapped: what another process cuts off or rewrites meanwhile is an
/// error of the read, where a mapping would end the process with SIGBUS. Any thread.
class InputFile {
public:
    /// An error where `path` is no regular file; nothing waits for a FIFO or reads a device.
    [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Bytes when it was opened.
    [[nodiscard]] std::uint64_t size() const { return m_stamp.size; }
    /// Fills `out` with the bytes from `offset` on. offset + out.size() ≤ size(). An error where the file's size or
    /// time of change is no longer what it was when it was opened.
    [[nodiscard]] Status read(std::uint64_t offset, std::span<std::byte> out) const;
    /// Gives the descriptor back; each read then opens the file anew, and finds out whether it is another.
    void release() { m_file.close(); }

private:
    /// What tells one state of a file from another.
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

/// Writes all of the bytes to an open descriptor. False where that cannot be done: errno says why.
[[nodiscard]] bool writeBytes(int descriptor, std::span<const std::byte> bytes);

/// A new file to write to. Where something has the name, even a link, nothing is opened: errno says EEXIST.
[[nodiscard]] FileDescriptor createNewFile(const std::filesystem::path& path, std::uint32_t mode = 0666);
/// Brings what was written to the disk and closes the file. False where that cannot be done: errno says why.
[[nodiscard]] bool finishFile(FileDescriptor& file);

/// Brings a file that others have written to the disk.
[[nodiscard]] Status syncFile(const std::filesystem::path& path);
/// Makes renames and new names in `directory` last.
[[nodiscard]] Status syncDirectory(const std::filesystem::path& directory);

[[nodiscard]] inline std::span<const std::byte> asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace residua
