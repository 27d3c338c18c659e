// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/unpack.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// The relative path from a run at this place below its project's folder to that folder: "../..".
[[nodiscard]] std::filesystem::path wayUp(const std::string& place);

/// Reads what was unpacked into `folder`, and refuses it where it is no project with its runs.
[[nodiscard]] Status checkUnpacked(const std::filesystem::path& file, const BundleContents& contents,
                                   const std::filesystem::path& folder);
/// Moves the runs, and the data that the project lacks, from `folder` into the project in result.project: all of them,
/// or on error none. `watch`, asked before anything is moved, may give it up.
[[nodiscard]] Status join(const BundleContents& contents, const std::filesystem::path& folder, const BundleWatch& watch,
                          UnpackedBundle& result);

} // namespace residua::engine
