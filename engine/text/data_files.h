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
/// Returns the kind of the data at a path: of a file by its first bytes, unless its name ends as that of a text, and
/// else by the end of its name; of a folder the one of text and records that has more bytes, or tokens if it has
/// neither.
[[nodiscard]] DataKind kindAt(const std::filesystem::path& path);
/// Returns the endings of the names of such files.
[[nodiscard]] std::span<const std::string_view> endingsOf(DataKind kind);
/// Returns the files that a data path stands for: itself, or every file below the folder whose name ends in one of
/// `endings`, sorted. Left out are names that begin with a dot or an underscore, with all below them; a .json that does
/// not begin as JSON Lines or lies beside records of another ending; and a compressed file that lies there uncompressed
/// or by gzip too. Without endings a folder is an error.
[[nodiscard]] Result<std::vector<std::filesystem::path>> filesAt(const std::filesystem::path& path,
                                                                 std::span<const std::string_view> endings);

/// How the data at a path are read.
struct DataLook {
    std::string files;              ///< "2 files of JSON Lines, compressed by gzip"
    std::vector<std::string> notes; ///< what a person should know: a sentence each
};

/// Looks at the files of a kind that a path stands for. Notes name and count the entries of a folder
/// that are left out, empty files, and files that are not read as their names say. Files that cannot be read are left
/// to their reader.
[[nodiscard]] DataLook lookAt(const std::filesystem::path& path, DataKind kind);

} // namespace residua::engine
