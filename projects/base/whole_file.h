// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace residua {

/// Replaces `path` by `bytes`: temp file beside it, fsync, rename. The old content survives any failure. What is there
/// and is no plain file is an error, and stays.
[[nodiscard]] Status writeFileAtomically(const std::filesystem::path& path, std::string_view bytes);
/// The same for a path that a person has chosen: into a device that takes characters, or a FIFO, `bytes` are written,
/// and the call waits for a FIFO's reader.
[[nodiscard]] Status writeOutput(const std::filesystem::path& path, std::string_view bytes);
/// A text file of at most 64 MiB; anything but a regular file is an error.
[[nodiscard]] Result<std::string> readFile(const std::filesystem::path& path);

} // namespace residua
