// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/text/byte_source.h"
#include "engine/data/text/text_memory.h"
#include "projects/base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A separate text: a file, a line of JSON Lines, or a row of Parquet. Valid UTF-8, without a byte order mark.
using Document = ByteRange;

/// Returns the text of a file, or of every text file below a folder in the order of paths. Uncompressed text stays in
/// its file. Invalid UTF-8 is an error with file, line and offset. `memory` counts text held in memory, here and below;
/// exceeding it is an error.
[[nodiscard]] Result<std::vector<Document>> readTextFiles(const std::filesystem::path& path,
                                                          const PreparationWatch& watch = {},
                                                          const TextMemory& memory = TextMemory(),
                                                          ReadingVersion reading = kNewestReading);
/// Returns the string `field` of every record, each ended by a newline, in memory: of one file, or of every file of
/// records below a folder in the order of paths. A record is a nonblank line of JSON Lines of at most 64 MiB, or a row
/// of Parquet, where `field` is the column. Records with a null text are skipped. `a.b` means field b of the object or
/// group a. Errors about lines name the first one and count all in its file.
[[nodiscard]] Result<std::vector<Document>> readRecords(const std::filesystem::path& path, const std::string& field,
                                                        const PreparationWatch& watch = {},
                                                        const TextMemory& memory = TextMemory(),
                                                        ReadingVersion reading = kNewestReading);
/// Returns the texts at a path: plain text, or records with the key or column `field`.
[[nodiscard]] Result<std::vector<Document>> readTexts(const std::filesystem::path& path, const std::string& field,
                                                      const PreparationWatch& watch = {},
                                                      const TextMemory& memory = TextMemory(),
                                                      ReadingVersion reading = kNewestReading);
/// Returns each line that is not empty as a document, with its newline.
[[nodiscard]] Result<std::vector<Document>> linesOf(const std::vector<Document>& documents,
                                                    const PreparationWatch& watch);
/// Checks the lines in the first MiB of the first file of JSON Lines at a path, with the errors of readRecords(). Ok
/// for Parquet.
[[nodiscard]] Status checkFirstRecords(const std::filesystem::path& path, const std::string& field);
/// The remedy if records do not fit in memory.
inline constexpr const char* kFewerRecords =
    "take fewer files, or make a plain text (.txt) of them, which is read where it lies";

/// Returns the text of one file, which may be compressed, like readTextFiles(). The file may be empty.
[[nodiscard]] Result<Document> readTextFile(const std::filesystem::path& path, const PreparationWatch& watch = {},
                                            const TextMemory& memory = TextMemory());

/// Passes a text to `take` in order: whole if it has at most 1 MiB, else in parts of about that size. A part ends after
/// its last newline, or in a longer line after its last space, or else between two code points. Stops at the first
/// error, or if `watch`, called between parts, cancels.
[[nodiscard]] Status forEachPart(const ByteRange& text, const PreparationWatch& watch,
                                 const std::function<Status(std::string_view part)>& take);

/// Opens file number `index` of several. Only the first files keep their descriptors, because a process has few.
[[nodiscard]] Result<InputFile> openAmong(const std::filesystem::path& path, std::size_t index);

} // namespace residua::engine
