// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/data/text/byte_source.h"
#include "projects/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace residua::engine {

/// The bytes per stored token.
enum class TokenSize : std::uint8_t { One = 1, Two = 2, Four = 4 };

/// A sequence of tokens, stored in files or in memory. Immutable once built; any thread.
class TokenSequence {
public:
    /// Appends tokens stored little endian. bytes.size must be a multiple of `size`.
    void append(ByteRange bytes, TokenSize size);
    /// Appends a copy in the smallest size that represents ids below `vocabulary`.
    void append(std::span<const std::uint32_t> tokens, std::int64_t vocabulary);

    [[nodiscard]] std::int64_t size() const { return m_size; }
    /// Fills `out` with the tokens from `begin`. Requires 0 ≤ begin and begin + out.size() ≤ size(). Returns an error
    /// if a file has changed or cannot be read.
    [[nodiscard]] Status read(std::int64_t begin, std::span<std::int64_t> out) const;

    struct Found {
        std::int64_t position = 0;
        std::int64_t token = 0;
    };
    /// Returns the first token that is not below `vocabulary`; nullopt if all are. `watch` may cancel.
    [[nodiscard]] Result<std::optional<Found>> firstBeyond(std::int64_t vocabulary,
                                                           const PreparationWatch& watch = {}) const;

private:
    struct Piece {
        std::int64_t begin = 0; ///< the position of its first token
        ByteRange bytes;
        TokenSize size = TokenSize::One;
        [[nodiscard]] std::int64_t tokens() const
        {
            return static_cast<std::int64_t>(bytes.size / static_cast<std::uint64_t>(size));
        }
        [[nodiscard]] Status read(std::int64_t first, std::span<std::int64_t> out) const;
    };
    std::vector<Piece> m_pieces;
    std::int64_t m_size = 0;
};

} // namespace residua::engine
