// SPDX-License-Identifier: GPL-3.0-or-later
// What the program sees of Arrow's Parquet reader: a table of plain functions, the one symbol of a shared library of
// its own (libresidua_parquet.so) that is opened when the first Parquet file is. So the program starts without Arrow,
// and runs where Arrow is not installed; and Arrow's 60 MB come only to those who read such files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace residua::engine {

inline constexpr int kParquetTableVersion = 2;
inline constexpr const char* kParquetTableSymbol = "residuaParquet";

/// Stopped: what was called back did not want more. Refused: the file is not as the format says. TooLarge: a page of it
/// takes more memory than it may.
enum class ParquetAnswer { Done, Stopped, Refused, NoMemory, TooLarge };

/// The bytes of a file, from the caller. offset + size ≤ `size`; false where they cannot be read.
struct ParquetBytes {
    void* from = nullptr;
    std::uint64_t size = 0;
    bool (*read)(void* from, std::uint64_t offset, void* bytes, std::size_t size) = nullptr;
};

/// What a reader hands to its caller. Text is only valid during the call.
struct ParquetTaker {
    void* to = nullptr;
    /// The text of a row, counted from 0 in its row group; those that are null are left out. False: no more is wanted.
    bool (*put)(void* to, std::int64_t row, const char* text, std::size_t size) = nullptr;
    /// Why the answer is Refused.
    void (*say)(void* to, const char* reason) = nullptr;
};

/// Both texts live as long as their reader.
struct ParquetColumn {
    const char* name = nullptr; ///< of the fields that lead to it, joined by '.'
    const char* type = nullptr; ///< in words
    bool text = false;          ///< strings, at most one in each row
    bool encrypted = false;
};

/// No memory crosses the table, and no exception but the caller's own. A reader is used by one thread at a time.
struct ParquetTable {
    using Reader = void;

    int version = kParquetTableVersion;
    /// Reads what the file says of itself. `bytes` is used as long as the reader, which takes at most `most` bytes for
    /// pages; `*reader` is the caller's to close where the answer is Done.
    ParquetAnswer (*open)(const ParquetBytes* bytes, std::uint64_t most, const ParquetTaker* taker,
                          Reader** reader) = nullptr;
    void (*close)(Reader* reader) = nullptr;
    std::size_t (*columns)(const Reader* reader) = nullptr;
    ParquetColumn (*column)(const Reader* reader, std::size_t index) = nullptr;
    std::size_t (*groups)(const Reader* reader) = nullptr; ///< row groups
    std::int64_t (*rows)(const Reader* reader, std::size_t group) = nullptr;
    /// Puts every row of a group that is not null, page by page. The column has text.
    ParquetAnswer (*read)(Reader* reader, std::size_t group, std::size_t column, const ParquetTaker* taker) = nullptr;
};

} // namespace residua::engine
