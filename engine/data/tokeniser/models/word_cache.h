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

/// The tokens of words seen before. Clears itself when it grows too large. One thread.
class WordCache {
public:
    /// Returns the tokens of a cached word, valid until the next keep().
    [[nodiscard]] std::optional<std::span<const std::uint32_t>> find(std::string_view word) const;
    /// Adds a word that is not cached. Ignores very long words.
    void keep(std::string_view word, std::span<const std::uint32_t> ids);

private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t word = 0; ///< the offset of the word
        std::uint32_t size = 0; ///< in bytes; 0 for an empty slot
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
