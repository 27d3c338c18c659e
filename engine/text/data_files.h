// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/data_endings.h"

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
[[nodiscard]] DataKind kindAt(const std::filesystem::path& path);
/// Returns the extensions of such files.
[[nodiscard]] std::span<const std::string_view> endingsOf(DataKind kind);
/// True if a name begins with a dot or an underscore: such files and folders are no data.
[[nodiscard]] bool isHiddenEntry(const std::filesystem::path& path);
/// Returns the files of a data path: the file itself, or every file below the folder with one of `endings`, sorted.
/// Leaves out files and folders with names that begin with a dot or an underscore, a .json that does not begin as JSON
/// Lines or is beside records with another extension, and a compressed file that also exists uncompressed or compressed
/// by gzip. Returns an error for a folder if `endings` is empty.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 std::span<const std::string_view> endings);

/// How the data at a path are read.
struct DataLook {
    std::string files;              ///< "2 files of JSON Lines, compressed by gzip"
    std::vector<std::string> notes; ///< for the user: one sentence each
};

/// Describes the files of one kind at a path. The notes name and count the left-out entries of a folder, empty files,
/// and files that are not read as their names suggest. Errors of unreadable files are left to their reader.
[[nodiscard]] DataLook lookAt(const std::filesystem::path& path, DataKind kind);

} // namespace residua::engine
