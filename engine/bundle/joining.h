// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/unpack.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// Returns the relative path from a run at `place`, below its project's folder, to that folder: "../..".
[[nodiscard]] std::filesystem::path wayUp(const std::string& place);

/// Reads the files unpacked into `folder`; returns an error if they are not a project with its runs.
[[nodiscard]] Status checkUnpacked(const std::filesystem::path& file, const BundleContents& contents,
                                   const std::filesystem::path& folder);
/// Moves the runs, and the data that the project lacks, from `folder` into the project in result.project. On error,
/// nothing is moved. `watch` is called before the first move and may cancel.
[[nodiscard]] Status join(const BundleContents& contents, const std::filesystem::path& folder, const BundleWatch& watch,
                          UnpackedBundle& result);

} // namespace residua::engine
