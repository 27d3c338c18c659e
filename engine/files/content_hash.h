// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace residua::engine {

/// A 64-bit hash against accidental collisions, not against an adversary. Each add() counts as a separate piece.
class ContentHash {
public:
    /// A different `start` gives another hash of the same content.
    explicit ContentHash(std::uint64_t start = 0x243f6a8885a308d3u) : m_state(start) {}

    void add(std::span<const std::byte> bytes)
    {
        mix(bytes.size());
        for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t))) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data(), sizeof word);
            mix(word);
        }
        std::uint64_t rest = 0;
        std::memcpy(&rest, bytes.data(), bytes.size());
        mix(rest);
    }

    [[nodiscard]] std::string text() const
    {
        constexpr const char* kDigits = "0123456789abcdef";
        std::string digits;
        for (int shift = 60; shift >= 0; shift -= 4) {
            digits += kDigits[(m_state >> shift) & 15];
        }
        return digits;
    }

private:
    void mix(std::uint64_t word)
    {
        m_state = (m_state ^ word) * 0x9e3779b97f4a7c15u;
        m_state ^= std::rotl(m_state, 29);
        m_state *= 0xd6e8feb86659fd93u;
    }
    std::uint64_t m_state;
};

/// Two hashes with different starts, as a text of 32 hexadecimal digits, so that accidental collisions are negligible.
class ContentDigest {
public:
    void add(std::span<const std::byte> bytes)
    {
        m_one.add(bytes);
        m_other.add(bytes);
    }
    void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
    [[nodiscard]] std::string text() const { return m_one.text() + m_other.text(); }

private:
    ContentHash m_one;
    ContentHash m_other{0x13198a2e03707344u};
};

} // namespace residua::engine
