// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>

namespace residua::engine {

/// The path in its normal form; a folder that was written with a slash at its end is without it.
[[nodiscard]] std::filesystem::path withoutSlash(const std::filesystem::path& path);

/// Where `path` lies below `folder`, "." for the folder itself; nothing where it lies elsewhere. By the names alone:
/// links are not looked at.
[[nodiscard]] std::optional<std::filesystem::path> placeWithin(const std::filesystem::path& folder,
                                                               const std::filesystem::path& path);

} // namespace residua::engine
