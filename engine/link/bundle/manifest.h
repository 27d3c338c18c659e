// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/link/bundle/bundle_contents.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace residua::engine {

/// The name of a bundle's first entry, its list.
inline constexpr const char* kManifest = "residua-bundle.json";
inline constexpr std::size_t kLongestManifest = std::size_t{16} << 20;

[[nodiscard]] std::string manifestText(const BundleContents& contents);
/// Parses a bundle's list. `file`, the bundle, is named in errors. The result has been checked: every path leads to a
/// distinct place below the folder (checkBundledPath), none is both a file and a folder, and each belongs to the
/// document, to a listed run or to listed data. No name is hidden.
[[nodiscard]] Result<BundleContents> manifestFrom(const std::filesystem::path& file, std::string_view text);

/// Returns an error if `path` is not allowed in a bundle: absolute, with "..", "." or an empty part, longer than file
/// systems allow, with control characters or marks of writing direction, or not UTF-8. `place` is named in the error.
[[nodiscard]] Status checkBundledPath(const std::string& place, const std::string& path);

/// True if a part of the path begins with a dot.
[[nodiscard]] bool isHidden(const std::string& path);

/// Returns the first 100 bytes of untrusted text in quotes, as printable() does.
[[nodiscard]] std::string shown(const std::string& text);

/// The file with a project's identity: 32 random hexadecimal digits, drawn once. They identify the project in another
/// folder or on another machine, even if its document has changed.
inline constexpr const char* kIdentityFile = ".residua-identity";

/// Returns the identity of the project in `directory`; empty if it has none or the file is malformed.
[[nodiscard]] std::string identityOf(const std::filesystem::path& directory);
/// Returns the identity of the project in `directory`; draws and stores one if it has none. Returns an error if it
/// cannot be stored.
[[nodiscard]] Result<std::string> ensureIdentity(const std::filesystem::path& directory);

} // namespace residua::engine
