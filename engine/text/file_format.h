// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/compressed_file.h"
#include "projects/base/result.h"

#include <filesystem>

namespace residua::engine {

enum class FileContent { Other, JsonLines, Parquet, HeadedTokens };

/// The format of a data file, according to its first bytes.
struct FileFormat {
    const Compression* compression = nullptr; ///< null if it is not compressed
    FileContent content = FileContent::Other; ///< of the decompressed content
    bool empty = false;
};

/// Returns the format of a file. Returns an error if it cannot be read, or if it has a format that no source reads,
/// such as NumPy or ZIP; the error names the format and a remedy. Any thread.
[[nodiscard]] Result<FileFormat> formatOf(const std::filesystem::path& path);

} // namespace residua::engine
