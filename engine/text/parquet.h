// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/text_files.h"
#include "projects/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

/// What the name of a Parquet file ends in.
inline constexpr std::string_view kParquetEnding = ".parquet";

/// The string `column` of every row that is not null, each ended by a newline, in memory. A column of a group has the
/// names that lead to it, joined by '.'. Errors name the file: one that is cut off, damaged, encrypted or of another
/// format; a column that is not there, or not of strings; a row that is not UTF-8; and where the library that reads
/// such files is not installed; and where the text, or a page of it as it is decompressed, is more than `memory` has
/// left.
[[nodiscard]] Result<std::vector<Document>> readParquet(const std::filesystem::path& path, const std::string& column,
                                                        const PreparationWatch& watch = {},
                                                        const TextMemory& memory = TextMemory());

} // namespace residua::engine
