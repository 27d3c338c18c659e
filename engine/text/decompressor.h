// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/compressed_file.h"
#include "projects/base/files.h"

#include <cstdint>
#include <memory>
#include <span>

namespace residua::engine {

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
