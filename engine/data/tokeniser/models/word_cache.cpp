// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/models/word_cache.h"

#include <cstring>
#include <utility>

namespace residua::engine {
namespace {

constexpr std::size_t kFewestSlots = std::size_t{1} << 12;
constexpr std::size_t kMostSlots = std::size_t{1} << 18;
constexpr std::size_t kLongestWord = 256;

std::uint64_t hashOf(std::string_view word)
{
    std::uint64_t state = word.size() * 0x9e3779b97f4a7c15u;
    while (!word.empty()) {
        std::uint64_t part = 0;
        const std::size_t taken = word.size() < sizeof part ? word.size() : sizeof part;
        std::memcpy(&part, word.data(), taken);
        state = (state ^ part) * 0xd6e8feb86659fd93u;
        state ^= state >> 32;
        word.remove_prefix(taken);
    }
    return state;
}

} // namespace

std::size_t WordCache::slotOf(std::uint64_t hash, std::string_view word) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = hash & mask;
    for (; m_slots[at].size != 0; at = (at + 1) & mask) {
        const Slot& slot = m_slots[at];
        if (slot.hash == hash && slot.size == word.size() &&
            std::memcmp(m_words.data() + slot.word, word.data(), word.size()) == 0) {
            break;
        }
    }
    return at;
}

std::optional<std::span<const std::uint32_t>> WordCache::find(std::string_view word) const
{
    if (m_slots.empty()) {
        return std::nullopt;
    }
    const Slot& slot = m_slots[slotOf(hashOf(word), word)];
    if (slot.size == 0) {
        return std::nullopt;
    }
    return std::span(m_ids).subspan(slot.ids, slot.count);
}

void WordCache::keep(std::string_view word, std::span<const std::uint32_t> ids)
{
    if (word.empty() || word.size() > kLongestWord) {
        return;
    }
    if (2 * m_used >= m_slots.size()) {
        grow();
    }
    const std::uint64_t hash = hashOf(word);
    m_slots[slotOf(hash, word)] = {hash, static_cast<std::uint32_t>(m_words.size()),
                                   static_cast<std::uint32_t>(word.size()), static_cast<std::uint32_t>(m_ids.size()),
                                   static_cast<std::uint32_t>(ids.size())};
    m_words += word;
    m_ids.insert(m_ids.end(), ids.begin(), ids.end());
    ++m_used;
}

void WordCache::grow()
{
    if (m_slots.size() >= kMostSlots) {
        m_slots.assign(m_slots.size(), {});
        m_words.clear();
        m_ids.clear();
        m_used = 0;
        return;
    }
    const std::size_t slots = m_slots.empty() ? kFewestSlots : 4 * m_slots.size();
    const std::vector<Slot> before = std::exchange(m_slots, std::vector<Slot>(slots));
    for (const Slot& slot : before) {
        if (slot.size != 0) {
            m_slots[slotOf(slot.hash, std::string_view(m_words).substr(slot.word, slot.size))] = slot;
        }
    }
}

} // namespace residua::engine
