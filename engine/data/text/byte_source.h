// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/data/text/text_memory.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace residua::engine {

/// A source of bytes for examples. Immutable; any thread.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Fills `out` with the bytes from `offset`. Requires offset + out.size() ≤ size(). Returns an error if they can no
    /// longer be read, such as those of a truncated file.
    [[nodiscard]] virtual Status read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};
using Bytes = std::shared_ptr<const ByteSource>;

/// A range of bytes of a source.
struct ByteRange {
    Bytes source;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
};

/// Returns a file as a source, which reads on request. The file may be larger than memory.
[[nodiscard]] Bytes bytesOfFile(InputFile file);
/// Returns bytes in memory. `share` counts them as long as they exist.
[[nodiscard]] Bytes bytesInMemory(std::string bytes, TextShare share = {});

} // namespace residua::engine
