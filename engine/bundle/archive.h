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

/// A tar archive (GNU) compressed by zstd that is being written. Names are kept byte for byte.
class ArchiveWriter {
public:
    /// `file` must not exist.
    [[nodiscard]] static Result<ArchiveWriter> create(const std::filesystem::path& file);

    /// Begins the next file. Exactly `bytes` bytes are to be written to it before another begins.
    [[nodiscard]] Status begin(const std::string& path, std::int64_t bytes);
    [[nodiscard]] Status write(std::span<const std::byte> bytes);
    /// Returns once all is on the disk, and tells the size.
    [[nodiscard]] Result<std::int64_t> finish();

private:
    ArchiveWriter() = default;
    [[nodiscard]] Error failure() const;

    std::filesystem::path m_file;
    FileDescriptor m_descriptor; ///< outlives m_archive, which writes to it when it goes
    ArchiveHandle m_archive;
};

struct ArchiveEntry {
    std::string path;
    std::int64_t bytes = 0;
};

/// A tar archive that is being read. Anybody may have made it, so nothing in it is taken on trust.
class ArchiveReader {
public:
    [[nodiscard]] static Result<ArchiveReader> open(const std::filesystem::path& file);

    /// The next entry; nothing after the last. Refuses what is no plain file: folders, links, devices.
    [[nodiscard]] Result<std::optional<ArchiveEntry>> next();
    /// Fills the front of `out` from the present entry, and tells how much; 0 at its end.
    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);

private:
    ArchiveReader() = default;
    [[nodiscard]] Error failure() const;

    std::filesystem::path m_file;
    FileDescriptor m_descriptor;
    ArchiveHandle m_archive;
};

} // namespace residua::engine
