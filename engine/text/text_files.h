// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/byte_source.h"
#include "engine/text/text_memory.h"
#include "projects/base/result.h"
#include "projects/model/data_endings.h"

#include <filesystem>
#include <functional>
#include <span>
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
/// MiB, or a row of Parquet that is not null, where `field` is the column.
[[nodiscard]] Result<std::vector<Document>> readRecords(const std::filesystem::path& path, const std::string& field,
                                                        const PreparationWatch& watch = {},
                                                        const TextMemory& memory = TextMemory());
/// Whether a path is read as records: by the end of its name, or as a folder that has such files and no texts.
[[nodiscard]] bool holdsRecords(const std::filesystem::path& path);
/// What the names of the files at a path end in, be they records or plain text.
[[nodiscard]] std::span<const std::string_view> endingsAt(const std::filesystem::path& path);
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

/// The files a data path stands for: itself, or every file below the folder whose name ends in one of those, sorted. Of
/// a file that lies there uncompressed too, or by both gzip and zstd, the first of these is read. Without endings a
/// folder is an error.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 std::span<const std::string_view> endings);
/// What of the folder is left out because the same lies beside it: a sentence, or none.
[[nodiscard]] std::vector<std::string> leftOutAt(const std::filesystem::path& path,
                                                 std::span<const std::string_view> endings);
/// Opens the `index`-th of many: only the first of them keep their descriptors, of which a process has few.
[[nodiscard]] Result<InputFile> openAmong(const std::filesystem::path& path, std::size_t index);

} // namespace residua::engine
