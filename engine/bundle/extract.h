// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/archive.h"
#include "engine/bundle/unpack.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

/// Reads the list that a bundle begins with. `file` is the place of errors.
[[nodiscard]] Result<BundleContents> readContents(ArchiveReader& reader, const std::filesystem::path& file);
/// Writes what follows the list below `folder`, which exists, is empty and is nobody else's: exactly the files of the
/// list, in its order, each of its size and checksum.
[[nodiscard]] Status extractFiles(ArchiveReader& reader, const std::filesystem::path& file,
                                  const BundleContents& contents, const std::filesystem::path& folder,
                                  const BundleWatch& watch);
/// Refuses what no work of Residua grows to (kMostGrowth): a bundle that was made to fill a disk.
[[nodiscard]] Status checkGrowth(const BundleContents& contents, const std::filesystem::path& file);
/// Refuses where the disk of `folder` has no room for the files.
[[nodiscard]] Status checkRoom(const BundleContents& contents, const std::filesystem::path& folder);

} // namespace residua::engine
