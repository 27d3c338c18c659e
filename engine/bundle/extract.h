// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/archive.h"
#include "engine/bundle/unpack.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

/// Reads the list at the beginning of a bundle. `file` is named in errors.
[[nodiscard]] Result<BundleContents> readContents(ArchiveReader& reader, const std::filesystem::path& file);
/// Writes the files of the list below `folder`, which must exist, be empty and belong to the caller. The archive must
/// contain exactly these files, in this order, each with the listed size and checksum.
[[nodiscard]] Status extractFiles(ArchiveReader& reader, const std::filesystem::path& file,
                                  const BundleContents& contents, const std::filesystem::path& folder,
                                  const BundleWatch& watch);
/// Refuses a bundle that unpacks to more than kMostGrowth times its size, which may have been made to fill a disk.
[[nodiscard]] Status checkGrowth(const BundleContents& contents, const std::filesystem::path& file);
/// Returns an error if the disk of `folder` has no room for the files.
[[nodiscard]] Status checkRoom(const BundleContents& contents, const std::filesystem::path& folder);

} // namespace residua::engine
