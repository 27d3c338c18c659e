// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/fnv.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace residua::engine {

/// A counter-based generator, Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011): the numbers at a counter depend on key and counter alone, so any part of a sequence can be had in any order
/// and thread.
class Philox {
public:
    explicit Philox(std::uint64_t key) : m_key(key) {}

    [[nodiscard]] std::array<std::uint32_t, 4> at(std::uint64_t counter) const
    {
        std::array<std::uint32_t, 4> x{low(counter), high(counter), 0, 0};
        std::uint32_t k0 = low(m_key);
        std::uint32_t k1 = high(m_key);
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
            const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
            x = {high(b) ^ x[1] ^ k0, low(b), high(a) ^ x[3] ^ k1, low(a)};
            k0 += 0x9E3779B9;
            k1 += 0xBB67AE85;
        }
        return x;
    }

    /// A number in [0, 1) of 53 of the 64 bits at a counter.
    [[nodiscard]] double uniform(std::uint64_t counter) const
    {
        const std::array<std::uint32_t, 4> bits = at(counter);
        return static_cast<double>((std::uint64_t{bits[0]} << 21U) ^ (bits[1] >> 11U)) * 0x1.0p-53;
    }

    [[nodiscard]] std::uint64_t key() const { return m_key; }

private:
    static std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
    static std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

    std::uint64_t m_key;
};

/// A number in (0, 1), never an end: the middle of one of 2^32 equal parts.
[[nodiscard]] constexpr double uniformInside(std::uint32_t bits)
{
    return (static_cast<double>(bits) + 0.5) / 4294967296.0;
}

/// `all` in the order of their draws at their own numbers as counters: the first n are a random n of them.
[[nodiscard]] inline std::vector<std::size_t> inDrawnOrder(std::vector<std::size_t> all, const Philox& random)
{
    std::ranges::stable_sort(all, {}, [&](std::size_t each) { return random.uniform(each); });
    return all;
}

/// A stream's key from a seed and its name (FNV-1a, then a finaliser), so that streams of different names are
/// unrelated.
[[nodiscard]] constexpr std::uint64_t streamKey(std::int64_t seed, std::string_view name)
{
    std::uint64_t hash = kFnvStart ^ (static_cast<std::uint64_t>(seed) * 0x9E3779B97F4A7C15);
    for (const char c : name) {
        hash = fnvStep(hash, static_cast<std::uint8_t>(c));
    }
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
    return hash ^ (hash >> 33);
}

} // namespace residua::engine
