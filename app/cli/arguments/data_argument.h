// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "engine/api/data_summary.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace residua::cli {

/// The options beside --data. --mix: a text of a mixture with its weight, any number of times. --field: the key of JSON
/// Lines.
[[nodiscard]] OptionSpec mixOption();
[[nodiscard]] OptionSpec fieldOption();
/// Whether --data, --mix or --field is given.
[[nodiscard]] bool namesData(const Arguments& arguments);
/// Returns the source that --data names: ready-made tokens, JSON Lines, Parquet or text, by the first bytes and the end
/// of the name of the file, or of the files in a folder; or the mixture of the texts that --mix names, with their
/// weights. Paths are those of storedPath(). --field is the key of the parts that are JSON Lines.
[[nodiscard]] Result<projects::Source> dataSource(const Arguments& arguments, const std::filesystem::path& project);
/// Returns a typed path as the project in the folder `project` keeps it: an absolute one as it is, a relative one from
/// that folder.
[[nodiscard]] std::string storedPath(const std::string& typed, const std::filesystem::path& project);
/// Writes how the files of each path are read, and returns it with the notes as a value.
nlohmann::json showReadings(const std::vector<engine::DataReading>& readings, const Console& console);

} // namespace residua::cli
