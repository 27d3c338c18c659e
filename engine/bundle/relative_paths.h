// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>

namespace residua::engine {

/// Returns the path in its normal form, without a trailing slash.
[[nodiscard]] std::filesystem::path withoutSlash(const std::filesystem::path& path);

/// Returns `path` relative to `folder`: "." for the folder itself, nullopt if `path` is not below it. Compares names
/// only; does not follow links.
[[nodiscard]] std::optional<std::filesystem::path> placeWithin(const std::filesystem::path& folder,
                                                               const std::filesystem::path& path);

} // namespace residua::engine
