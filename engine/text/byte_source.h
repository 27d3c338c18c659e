// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/text_memory.h"
#include "projects/base/files.h"
#include "projects/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace residua::engine {

/// Bytes that examples are made of. Immutable; any thread.
class ByteSource {
public:
    virtual ~ByteSource() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Fills `out` with the bytes from `offset` on. offset + out.size() ≤ size(). An error where they cannot be read
    /// any more, such as those of a file that was cut off.
    [[nodiscard]] virtual Status read(std::uint64_t offset, std::span<std::byte> out) const = 0;
};
using Bytes = std::shared_ptr<const ByteSource>;

/// A run of bytes of a source.
struct ByteRange {
    Bytes source;
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
};

/// A file, read where it lies. It may be larger than memory.
[[nodiscard]] Bytes bytesOfFile(InputFile file);
/// A copy in memory, which is counted by `share` as long as it is there.
[[nodiscard]] Bytes bytesInMemory(std::string bytes, TextShare share = {});

} // namespace residua::engine
