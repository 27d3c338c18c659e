// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <filesystem>
#include <string>

namespace residua::cli {

/// The options beside --data. --mix: a text of a mixture with its weight, any number of times. --field: the key of JSON
/// Lines.
[[nodiscard]] OptionSpec mixOption();
[[nodiscard]] OptionSpec fieldOption();
/// Whether --data, --mix or --field is given.
[[nodiscard]] bool namesData(const Arguments& arguments);
/// What --data names: ready-made tokens, JSON Lines, Parquet or text, by its first bytes and the end of its name, or of
/// those in a folder. What each --mix names, of a mixture, with its weight. Paths are those of storedPath(). --field is
/// the key of all of it that is JSON Lines.
[[nodiscard]] Result<projects::Source> dataSource(const Arguments& arguments, const std::filesystem::path& project);
/// Returns a typed path as the project in the folder `project` keeps it: an absolute one as it is, a relative one from
/// that folder.
[[nodiscard]] std::string storedPath(const std::string& typed, const std::filesystem::path& project);

} // namespace residua::cli
