// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/text_files.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// The extension of Parquet files.
inline constexpr std::string_view kParquetEnding = ".parquet";

/// Reads the string `column` of every row that is not null into memory, each ended by a newline. A column of a group
/// has the path of names to it, joined by '.'. Returns an error that names the file if it is truncated, damaged,
/// encrypted or of another format; if the column is missing or not of strings; if a row is not UTF-8; if the library
/// for such files is not installed; or if the text, or one decompressed page, is larger than what `memory` has left.
[[nodiscard]] Result<std::vector<Document>> readParquet(const std::filesystem::path& path, const std::string& column,
                                                        const PreparationWatch& watch = {},
                                                        const TextMemory& memory = TextMemory());

} // namespace residua::engine
