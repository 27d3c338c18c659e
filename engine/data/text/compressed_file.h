// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/text/byte_source.h"
#include "engine/data/text/text_memory.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// A compression of files, recognised by their first bytes.
struct Compression {
    std::string_view name; ///< "gzip"
    std::string_view ending;
    std::string_view unpack; ///< the command that decompresses a file
};

/// Returns the compression of a file, or null if it is not compressed. Returns an error if it cannot be read, or if its
/// extension is that of a compression that its bytes do not have. An empty file is not compressed.
[[nodiscard]] Result<const Compression*> compressionOf(const std::filesystem::path& path);

/// Returns the content of a compressed file, in memory. Returns an error if it is truncated, damaged, or larger than
/// what `memory` has left.
[[nodiscard]] Result<Bytes> decompressed(const std::filesystem::path& path, const Compression& compression,
                                         const PreparationWatch& watch, const TextMemory& memory = TextMemory());
/// Returns at most `most` bytes from the beginning of a file's content; `compression` may be null. Returns fewer if the
/// rest is damaged.
[[nodiscard]] Result<std::string> headOf(const std::filesystem::path& path, const Compression* compression,
                                         std::size_t most);

/// Returns the bytes of memory needed to decompress a Zstandard file, in addition to its content; 0 for other files.
[[nodiscard]] std::uint64_t windowOf(const std::filesystem::path& path);

/// The content of a compressed file as a stream. One thread at a time.
class Decompressor {
public:
    virtual ~Decompressor() = default;
    /// Fills `out` with the next bytes and returns their number, or 0 at the end of the content. Returns an error if
    /// the file is truncated or damaged.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<char> out) = 0;
};

/// Returns a decompressor for Zstandard with windows up to `mostWindow` bytes, rounded up to a power of two between 128
/// MiB and 2 GiB.
[[nodiscard]] std::unique_ptr<Decompressor> zstdDecompressor(InputFile file, std::uint64_t mostWindow);

/// Returns the error for a file that cannot be decompressed.
[[nodiscard]] Error notDecompressed(const InputFile& file, std::string_view kind, const char* reason);

} // namespace residua::engine
