// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"
#include "engine/base/api/data_summary.h"
#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/data_source.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace residua::cli {

/// The options beside --data. --mix adds a text of a mixture with its weight and can be repeated. --field sets the key
/// of JSON Lines or a table's column of texts, --label its column of labels.
[[nodiscard]] OptionSpec mixOption();
[[nodiscard]] OptionSpec fieldOption();
[[nodiscard]] OptionSpec labelOption();
/// True if --data, --mix, --field or --label is given.
[[nodiscard]] bool namesData(const Arguments& arguments);
/// Returns the source for --data: token ids, JSON Lines, Parquet or text, detected from the first bytes and the ending
/// of the file's name, or of the files in a folder; or the mixture of the texts given by --mix with their weights.
/// Paths are those of storedPath(). --field is the key of the parts that are JSON Lines, or with --label the columns of
/// a table.
[[nodiscard]] Result<projects::Source> dataSource(const Arguments& arguments, const std::filesystem::path& project);
/// Returns a typed path in the form that the project in the folder `project` stores: an absolute path unchanged, a
/// relative one relative to that folder.
[[nodiscard]] std::string storedPath(const std::string& typed, const std::filesystem::path& project);
/// Prints the problems, one per line, and returns them as a JSON value.
nlohmann::json tellProblems(const std::vector<projects::Problem>& problems, const Console& console);
/// Prints the command for each problem that the value of a field cures.
void tellCures(const std::vector<projects::Problem>& problems, const std::string& project, const Console& console);
/// Returns the sizes of the splits: "train 900, validation 100, test 0", of padded texts "train 9 texts of 80 tokens".
[[nodiscard]] std::string splitsText(const engine::DataSummary& data);
/// Prints how the files of each path are read, and returns this with the notes as a JSON value.
nlohmann::json showReadings(const std::vector<engine::DataReading>& readings, const Console& console);

/// Returns an option --name for the number at `pointer` of the schema ("/network/stack/N/repeat"), with its range. An
/// open end is treated as closed. `value` is the name of the value in the help.
[[nodiscard]] OptionSpec fieldOption(std::string_view pointer, std::string name, std::string value, std::string help);

} // namespace residua::cli
