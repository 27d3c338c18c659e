// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "projects/base/result.h"

#include <filesystem>
#include <optional>
#include <string>

namespace residua::engine {

/// Returns a hash of every byte of a regular file, as 16 hexadecimal digits. The hash is cached in residua/digests of
/// the user's caches, keyed by path, size, time stamps and inode, so that a large file is read only once until it
/// changes. Any thread; `watch` may cancel.
[[nodiscard]] Result<std::string> digestOfFile(const std::filesystem::path& path, const PreparationWatch& watch);
/// Returns the SHA-256 of a regular file (sha256.h), cached in the same way.
[[nodiscard]] Result<std::string> sha256OfFile(const std::filesystem::path& path, const PreparationWatch& watch);
/// Returns the cached hash of digestOfFile() without reading the file; nullopt if it is not cached.
[[nodiscard]] std::optional<std::string> knownDigestOfFile(const std::filesystem::path& path);
/// Removes the least recently used digests beyond the limit of the cache (kDigestCache). Call it once after hashing
/// many files.
void trimDigests();

} // namespace residua::engine
