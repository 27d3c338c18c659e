// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace residua::engine {

/// The first entry of a bundle: its list.
inline constexpr const char* kManifest = "residua-bundle.json";
inline constexpr std::size_t kLongestManifest = std::size_t{16} << 20;

[[nodiscard]] std::string manifestText(const BundleContents& contents);
/// Reads a bundle's list. `file`, the bundle, is the place of errors. What comes back has been checked: every path
/// leads to a place of its own below the folder (checkBundledPath), none is twice, none is both a file and a folder,
/// and each is of the document, of a listed run or of listed data, without hidden names.
[[nodiscard]] Result<BundleContents> manifestFrom(const std::filesystem::path& file, std::string_view text);

/// Refuses what may not be a path in a bundle: absolute, with "..", "." or an empty part, longer than file systems
/// take, with control characters, or not UTF-8. `place` is that of the error.
[[nodiscard]] Status checkBundledPath(const std::string& place, const std::string& path);

/// True if a part of the path begins with a dot.
[[nodiscard]] bool isHidden(const std::string& path);

/// A stranger's text as a message or a terminal can show it: in UTF-8, with '?' for control characters.
[[nodiscard]] std::string printable(const std::string& text);
/// The same of its first 100 bytes, in quotes.
[[nodiscard]] std::string shown(const std::string& text);

} // namespace residua::engine
