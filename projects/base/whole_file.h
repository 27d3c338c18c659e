// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace residua {

/// Replaces the content of `path` by `bytes`: writes a temporary file beside it, syncs it and renames it. The old
/// content survives any failure. An existing `path` that is not a regular file is an error and is left unchanged.
[[nodiscard]] Status writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);
/// Like writeFileAtomically() in a folder of the program's own, such as a run: a link at `path` is replaced, and its
/// target is left unchanged.
[[nodiscard]] Status writeOwnFile(const std::filesystem::path& path, std::string_view bytes);
/// Like writeFileAtomically() for a path that the user has chosen. If `path` is a character device or a FIFO, writes
/// `bytes` into it and waits for a FIFO's reader.
[[nodiscard]] Status writeOutput(const std::filesystem::path& path, std::string_view bytes);

inline constexpr std::uint64_t kLargestText = std::uint64_t{64} << 20; ///< far more than any project needs
/// Reads a regular file of at most `most` bytes. Any other file, and one that changes during the read, is an error.
[[nodiscard]] Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t most = kLargestText);

/// Replaces `path` by the file that `write` writes under the given temporary name and syncs to the disk. After an error
/// that `path` cannot be written, the old content is still there. An error of syncing the folder is reported after the
/// new content is in place.
[[nodiscard]] Status replaceBy(const std::function<Status(const std::filesystem::path& temporary)>& write,
                               const std::filesystem::path& path);

/// The text between a file's name and the unique part of its temporary names.
inline constexpr std::string_view kTemporaryMark = ".tmp-";
/// Returns a name beside `path` that no other writer uses, in this process or another.
[[nodiscard]] std::filesystem::path temporaryBeside(const std::filesystem::path& path);
/// True if `name` is a temporary name of the file `of`.
[[nodiscard]] bool isTemporaryOf(std::string_view name, std::string_view of);
/// Returns the number of the process that made the temporary name, or nullopt for any other name.
[[nodiscard]] std::optional<int> writerOfTemporary(std::string_view name, std::string_view of);

} // namespace residua
