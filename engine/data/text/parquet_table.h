// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/text/text_files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residua::engine {

// The program's interface to Arrow's Parquet reader: a table of plain functions, the only symbol of a separate shared
// library (libresidua_parquet.so) that is opened with the first Parquet file. The program therefore starts and runs
// without Arrow, and only users of such files need Arrow's 60 MB.

inline constexpr int kParquetTableVersion = 2;
inline constexpr const char* kParquetTableSymbol = "residuaParquet";

/// Stopped: a callback wanted no more. Refused: the file violates the format. TooLarge: a page needs more memory than
/// allowed.
enum class ParquetAnswer { Done, Stopped, Refused, NoMemory, TooLarge };

/// The bytes of a file, from the caller. Requires offset + size ≤ `size`; returns false if they cannot be read.
struct ParquetBytes {
    void* from = nullptr;
    std::uint64_t size = 0;
    bool (*read)(void* from, std::uint64_t offset, void* bytes, std::size_t size) = nullptr;
};

/// Receives a reader's results. Text is valid only during the call.
struct ParquetTaker {
    void* to = nullptr;
    /// Receives the text of a row, counted from 0 in its row group; null rows are skipped. Returns false to stop.
    bool (*put)(void* to, std::int64_t row, const char* text, std::size_t size) = nullptr;
    /// Receives the reason of Refused.
    void (*say)(void* to, const char* reason) = nullptr;
};

/// Both strings are valid as long as their reader.
struct ParquetColumn {
    const char* name = nullptr; ///< the path of field names, joined by '.'
    const char* type = nullptr; ///< in words
    bool text = false;          ///< strings, at most one in each row
    bool encrypted = false;
};

/// No memory crosses the table, and no exceptions except the caller's own. One thread at a time per reader.
struct ParquetTable {
    using Reader = void;

    int version = kParquetTableVersion;
    /// Reads the metadata. `bytes` must be valid as long as the reader, which uses at most `most` bytes for pages. If
    /// the answer is Done, the caller must close `*reader`.
    ParquetAnswer (*open)(const ParquetBytes* bytes, std::uint64_t most, const ParquetTaker* taker,
                          Reader** reader) = nullptr;
    void (*close)(Reader* reader) = nullptr;
    std::size_t (*columns)(const Reader* reader) = nullptr;
    ParquetColumn (*column)(const Reader* reader, std::size_t index) = nullptr;
    std::size_t (*groups)(const Reader* reader) = nullptr; ///< row groups
    std::int64_t (*rows)(const Reader* reader, std::size_t group) = nullptr;
    /// Passes every row of a group that is not null to `put`, page by page. The column must have text.
    ParquetAnswer (*read)(Reader* reader, std::size_t group, std::size_t column, const ParquetTaker* taker) = nullptr;
};

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
