// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/text/byte_source.h"
#include "engine/text/text_memory.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace residua::engine {

/// A way to compress a file, recognised by the first bytes of the file.
struct Compression {
    std::string_view name; ///< "gzip"
    std::string_view ending;
    std::string_view unpack; ///< the command that decompresses a file
};

/// Returns the compression of a file, or null if it is not compressed. An error if it cannot be read, or if its name
/// ends as that of a compressed file and its bytes are not of that kind. An empty file has no compression.
[[nodiscard]] Result<const Compression*> compressionOf(const std::filesystem::path& path);

/// Returns the content of a compressed file, in memory. An error if it is cut off, damaged, or more than `memory` has
/// left.
[[nodiscard]] Result<Bytes> decompressed(const std::filesystem::path& path, const Compression& compression,
                                         const PreparationWatch& watch, const TextMemory& memory = TextMemory());
/// Returns the first bytes of the content of a file, at most `most`; compression may be null. Fewer if the rest is
/// damaged.
[[nodiscard]] Result<std::string> headOf(const std::filesystem::path& path, const Compression* compression,
                                         std::size_t most);

/// Returns the memory in bytes that decompressing a Zstandard file takes beside its content, or 0 for other files.
[[nodiscard]] std::uint64_t windowOf(const std::filesystem::path& path);

} // namespace residua::engine
