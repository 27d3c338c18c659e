// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/preparation.h"
#include "engine/data/token_sequence.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A text of its own: a file, or a line of JSON Lines. Valid UTF-8, without a byte order mark.
using Document = ByteRange;

/// The file, or every *.txt below the folder in the order of their paths. Text stays where it lies; what is not UTF-8
/// is an error with its file, line and offset.
[[nodiscard]] Result<std::vector<Document>> readTextFiles(const std::filesystem::path& path,
                                                          const PreparationWatch& watch = {});
/// The string `field` of every line that is not blank, each ended by a newline, in memory. A line has at most 64 MiB.
[[nodiscard]] Result<std::vector<Document>> readJsonLines(const std::filesystem::path& path, const std::string& field,
                                                          const PreparationWatch& watch = {});

/// Hands a text to `take` in order: whole where it has at most 1 MiB; else in parts of about that, cut after the last
/// newline, or where a line is longer after the last space, or else between two code points. Stops at the first error,
/// or where `watch`, asked between two parts, gives it up.
[[nodiscard]] Status forEachPart(const ByteRange& text, const PreparationWatch& watch,
                                 const std::function<Status(std::string_view part)>& take);

/// The files a data path stands for: itself, or every file below the folder that ends in `extension`, sorted.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 const std::string& extension);
/// Opens the `index`-th of many: only the first of them keep their descriptors, of which a process has few.
[[nodiscard]] Result<InputFile> openAmong(const std::filesystem::path& path, std::size_t index);

} // namespace residua::engine
