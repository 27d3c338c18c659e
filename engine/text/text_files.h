// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/byte_source.h"
#include "engine/text/text_memory.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A text of its own: a file, a line of JSON Lines, or a row of Parquet. Valid UTF-8, without a byte order mark.
using Document = ByteRange;

/// The file, or every text below the folder in the order of their paths. Text stays where it lies, if it is not
/// compressed; what is not UTF-8 is an error with its file, line and offset. What is held in memory is counted by
/// `memory`, here and below: an error where it has no more left.
[[nodiscard]] Result<std::vector<Document>> readTextFiles(const std::filesystem::path& path,
                                                          const PreparationWatch& watch = {},
                                                          const TextMemory& memory = TextMemory());
/// The string `field` of every record, each ended by a newline, in memory; of the file, or of every file of records
/// below the folder in the order of their paths. A record is a line of JSON Lines that is not blank and has at most 64
/// MiB, or a row of Parquet, where `field` is the column. Both leave out records whose text is null, and take `a.b` as
/// field b of the object or group a. Errors about a line name the first and count all of its file.
[[nodiscard]] Result<std::vector<Document>> readRecords(const std::filesystem::path& path, const std::string& field,
                                                        const PreparationWatch& watch = {},
                                                        const TextMemory& memory = TextMemory());
/// The texts at a path, be they records, whose key or column is `field`, or plain text.
[[nodiscard]] Result<std::vector<Document>> readTexts(const std::filesystem::path& path, const std::string& field,
                                                      const PreparationWatch& watch = {},
                                                      const TextMemory& memory = TextMemory());
/// What a person can do where records do not fit in memory.
inline constexpr const char* kFewerRecords =
    "take fewer files, or make a plain text (.txt) of them, which is read where it lies";

/// Hands a text to `take` in order: whole where it has at most 1 MiB; else in parts of about that, cut after the last
/// newline, or where a line is longer after the last space, or else between two code points. Stops at the first error,
/// or where `watch`, asked between two parts, gives it up.
[[nodiscard]] Status forEachPart(const ByteRange& text, const PreparationWatch& watch,
                                 const std::function<Status(std::string_view part)>& take);

/// Opens the `index`-th of many: only the first of them keep their descriptors, of which a process has few.
[[nodiscard]] Result<InputFile> openAmong(const std::filesystem::path& path, std::size_t index);

} // namespace residua::engine
