// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// The result of merging two adjacent tokens. Lower ranks are merged first.
struct Merge {
    std::uint32_t rank = 0;
    std::uint32_t id = 0;
};

/// Finds merges by their two tokens.
class MergeTable {
public:
    explicit MergeTable(std::size_t merges = 0)
    {
        std::size_t slots = 16;
        while (slots < 2 * merges + 2) {
            slots *= 2;
        }
        m_slots.resize(slots);
    }
    /// Adds a merge. Returns false if the pair exists. The number of merges must not exceed the constructor's argument.
    bool add(std::uint32_t left, std::uint32_t right, Merge merge)
    {
        Slot& slot = m_slots[at(left, right)];
        if (slot.used) {
            return false;
        }
        slot = {left, right, merge, true};
        return true;
    }
    [[nodiscard]] const Merge* find(std::uint32_t left, std::uint32_t right) const
    {
        const Slot& slot = m_slots[at(left, right)];
        return slot.used ? &slot.merge : nullptr;
    }

private:
    struct Slot {
        std::uint32_t left = 0;
        std::uint32_t right = 0;
        Merge merge;
        bool used = false;
    };
    [[nodiscard]] std::size_t at(std::uint32_t left, std::uint32_t right) const
    {
        const std::uint64_t key = std::uint64_t{left} << 32 | right;
        const std::size_t mask = m_slots.size() - 1;
        std::size_t place = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
        while (m_slots[place].used && (m_slots[place].left != left || m_slots[place].right != right)) {
            place = (place + 1) & mask;
        }
        return place;
    }
    std::vector<Slot> m_slots;
};

} // namespace residua::engine
