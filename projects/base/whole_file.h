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

/// Replaces `path` by `bytes`: temp file beside it, fsync, rename. The old content survives any failure. What is there
/// and is no plain file is an error, and stays.
[[nodiscard]] Status writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);
/// The same in a folder of our own, such as a run: a link at `path` gives way, and what it leads to stays as it is.
[[nodiscard]] Status writeOwnFile(const std::filesystem::path& path, std::string_view bytes);
/// The same as writeFileAtomically for a path that a person has chosen: into a device that takes characters, or a FIFO,
/// `bytes` are written, and the call waits for a FIFO's reader.
[[nodiscard]] Status writeOutput(const std::filesystem::path& path, std::string_view bytes);

inline constexpr std::uint64_t kLargestText = std::uint64_t{64} << 20; ///< far beyond any project
/// All of a regular file of at most `most` bytes; anything else, and one that is changed meanwhile, is an error.
[[nodiscard]] Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t most = kLargestText);

/// Replaces `path` by what `write` makes, and brings to the disk, under the temporary name that it is given. Where an
/// error says that `path` cannot be written, the old content stays, and nothing of the new; an error of bringing the
/// folder to the disk comes after the new content is there.
[[nodiscard]] Status replaceBy(const std::function<Status(const std::filesystem::path& temporary)>& write,
                               const std::filesystem::path& path);

/// What comes behind a file's name in those of its temporary files.
inline constexpr std::string_view kTemporaryMark = ".tmp-";
/// A name beside `path` that no other writer uses, in this process or another.
[[nodiscard]] std::filesystem::path temporaryBeside(const std::filesystem::path& path);
/// Whether `name` is such a name beside a file called `of`.
[[nodiscard]] bool isTemporaryOf(std::string_view name, std::string_view of);
/// The number of the process that made such a name; nullopt for any other name.
[[nodiscard]] std::optional<int> writerOfTemporary(std::string_view name, std::string_view of);

} // namespace residua
