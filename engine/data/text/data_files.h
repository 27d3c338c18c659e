// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/reading.h"
#include "engine/base/machine/preparation.h"
#include "engine/data/text/compressed_file.h"
#include "projects/base/result.h"
#include "projects/model/data_source.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

enum class DataKind { Text, Records, Tokens };
/// Returns the kind of the data at a path. A file's kind follows from its first bytes unless its extension is that of a
/// text, else from its extension. A folder's kind is that of its texts or records, whichever have more bytes, or tokens
/// if it has neither.
[[nodiscard]] DataKind kindAt(const std::filesystem::path& path, ReadingVersion reading = kNewestReading);
/// Returns the extensions of such files.
[[nodiscard]] std::span<const std::string_view> endingsOf(DataKind kind);
/// True if a name begins with a dot or an underscore: such files and folders are no data.
[[nodiscard]] bool isHiddenEntry(const std::filesystem::path& path);
/// Returns the files of a data path: the file itself, or every file below the folder with one of `endings`, sorted.
/// Leaves out files and folders with names that begin with a dot or an underscore, a .json that does not begin as JSON
/// Lines or is beside records with another extension, and a compressed file that also exists uncompressed or compressed
/// by gzip. The first reading leaves out links to folders too. Returns an error for a folder if `endings` is empty.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 std::span<const std::string_view> endings,
                                                                 ReadingVersion reading = kNewestReading);

/// How the data at a path are read.
struct DataLook {
    std::string files;              ///< "2 files of JSON Lines, compressed by gzip"
    std::vector<std::string> notes; ///< for the user: one sentence each
};

/// Describes the files of one kind at a path. The notes name and count the left-out entries of a folder, empty files,
/// and files that are not read as their names suggest. Errors of unreadable files are left to their reader.
[[nodiscard]] DataLook lookAt(const std::filesystem::path& path, DataKind kind,
                              ReadingVersion reading = kNewestReading);

/// The first bytes of a NumPy array.
inline constexpr std::string_view kNumpyMark = "\x93NUMPY";
enum class FileContent { Other, JsonLines, Parquet, HeadedTokens };

/// The format of a data file, according to its first bytes.
struct FileFormat {
    const Compression* compression = nullptr; ///< null if it is not compressed
    FileContent content = FileContent::Other; ///< of the decompressed content
    bool empty = false;
};

/// Returns the format of a file. Returns an error if it cannot be read, or if it has a format that no source reads,
/// such as ZIP or a pickle; the error names the format and a remedy. Any thread.
[[nodiscard]] Result<FileFormat> formatOf(const std::filesystem::path& path);

/// The position of a part of a text.
struct TextPosition {
    std::size_t offset = 0; ///< bytes before it
    std::size_t line = 1;
};
/// Returns Done if all of the text is valid; else an error that names `place`, the line, the offset and the byte.
[[nodiscard]] Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin = {});
/// Checks the beginning of a file. UTF-16, UTF-32 and too many zero bytes for a text are errors, which name the
/// encoding and how to convert it.
[[nodiscard]] Status checkEncoding(std::string_view head, const std::string& place);

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
