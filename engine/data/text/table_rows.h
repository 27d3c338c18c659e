// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "projects/base/result.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// A row of a table of texts: its wanted columns in the order in which they were named, and its line for errors.
struct TableRow {
    std::vector<std::string> values;
    std::size_t line = 0;
};

/// Returns the rows of a table with these columns, read into memory: CSV (values may be quoted), TSV (never quoted),
/// each with the names of the columns in the first line, or JSON Lines. The file name decides, apart from the ending of
/// a compression; other names are JSON Lines. A number or truth value of JSON is taken as it is written. Blank lines
/// are left out. Errors name the file and line: a missing column, a row of another length, a quote that does not end,
/// text that is not UTF-8, no rows.
[[nodiscard]] Result<std::vector<TableRow>> readTable(const std::filesystem::path& path,
                                                      const std::vector<std::string>& columns,
                                                      const PreparationWatch& watch = {});

} // namespace residua::engine
