// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::engine {

/// The tokens of words that were met before. Empties itself where it has grown too large. One thread.
class WordCache {
public:
    /// The tokens of a word that it holds, valid until the next keep().
    [[nodiscard]] std::optional<std::span<const std::uint32_t>> find(std::string_view word) const;
    /// Adds a word that it does not hold. One that is very long is not kept.
    void keep(std::string_view word, std::span<const std::uint32_t> ids);

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t word = 0; ///< where it begins
        std::uint32_t size = 0; ///< its bytes; 0 for an empty slot
        std::uint32_t ids = 0;
        std::uint32_t count = 0;
    };
    [[nodiscard]] std::size_t slotOf(std::uint64_t hash, std::string_view word) const;
    void grow();

    std::vector<Slot> m_slots;
    std::size_t m_used = 0;
    std::string m_words;
    std::vector<std::uint32_t> m_ids;
};

} // namespace residua::engine
