// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

struct archive;

namespace residua::engine {

struct ArchiveDeleter {
    void operator()(archive* handle) const;
};
using ArchiveHandle = std::unique_ptr<archive, ArchiveDeleter>;

/// Writes a tar archive (GNU format) compressed by zstd. Keeps names byte for byte.
class ArchiveWriter {
public:
    /// Creates `file`, which must not exist.
    [[nodiscard]] static Result<ArchiveWriter> create(const std::filesystem::path& file);

    /// Begins the next file. Exactly `bytes` bytes must be written before the next one begins.
    [[nodiscard]] Status begin(const std::string& path, std::int64_t bytes);
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// Returns the archive's size once all data are on the disk.
    [[nodiscard]] Result<std::int64_t> finish();

private:
    ArchiveWriter() = default;
    [[nodiscard]] Error failure() const;

    std::filesystem::path m_file;
    FileDescriptor m_descriptor; ///< outlives m_archive, whose destructor writes to it
    ArchiveHandle m_archive;
};

struct ArchiveEntry {
    std::string path;
    std::int64_t bytes = 0;
};

/// Reads a tar archive from an untrusted source.
class ArchiveReader {
public:
    [[nodiscard]] static Result<ArchiveReader> open(const std::filesystem::path& file);

    /// Returns the next entry, or nullopt after the last. Refuses entries that are not regular files: folders, links,
    /// devices.
    [[nodiscard]] Result<std::optional<ArchiveEntry>> next();
    /// Copies the next bytes of the current entry to the front of `out` and returns their number, or 0 at the end.
    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);

private:
    ArchiveReader() = default;
    [[nodiscard]] Error failure() const;

    std::filesystem::path m_file;
    FileDescriptor m_descriptor;
    ArchiveHandle m_archive;
};

} // namespace residua::engine
