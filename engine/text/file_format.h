// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/compressed_file.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

enum class FileContent { Other, JsonLines, Parquet, HeadedTokens };

/// The format of a data file, as its first bytes show it.
struct FileFormat {
    const Compression* compression = nullptr; ///< null if it is not compressed
    FileContent content = FileContent::Other; ///< of what is compressed
    bool empty = false;
};

/// Returns the format of a file. An error if it cannot be read, or holds a format that no source reads, such as NumPy
/// or ZIP, which the error names with a way on. Any thread.
[[nodiscard]] Result<FileFormat> formatOf(const std::filesystem::path& path);

} // namespace residua::engine
