// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Random numbers by counter: each is a function of a seed, the name of a stream and an index, so that nothing has to
/// be kept to go on, and any part can be had in any order and thread. There are two generators because recorded runs
/// hold the numbers of both: SplitMix64 draws data, fits and texts, Philox what a network starts from and what a step
/// leaves out. Their numbers may not change.
namespace residua {

// Numbers from bits, or from numbers in (0, 1).

/// In [0, 1), from the upper 53 bits.
[[nodiscard]] constexpr double uniformFrom(std::uint64_t bits)
{
    return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}
/// In (0, 1), never an end: the middle of one of 2^32 equal parts.
[[nodiscard]] constexpr double uniformInside(std::uint32_t bits)
{
    return (static_cast<double>(bits) + 0.5) / 4294967296.0;
}
/// Uniform in 0..count − 1; the bias is below count/2⁶⁴. count > 0.
[[nodiscard]] std::int64_t indexFrom(std::uint64_t bits, std::int64_t count);
/// N(0, 1), by Box and Muller: one of two independent numbers, uniform in (0, 1).
[[nodiscard]] double gaussianFrom(double first, double second);
/// Two independent numbers from N(0, 1), by the same arguments; the first is gaussianFrom's.
[[nodiscard]] std::array<double, 2> gaussianPair(double first, double second);

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

/// Its output after the state `value`: neighbouring values get unrelated numbers.
[[nodiscard]] std::uint64_t splitMix(std::uint64_t value);

/// What a draw is for: streams never share a draw, even under the same seed.
enum class Stream : std::uint64_t {
    Order = 0, ///< windows and epochs, one stream per split from here on
    Language = 16,
    Inputs = 32, ///< one stream per split from here on
    Noise = 48,  ///< likewise
    Part = 56,   ///< which of several texts, likewise
    Target = 64,
    Subspace,
    Monomials,
    Offset,
    Tokens, ///< of a text that a model continues
    Theory, ///< the networks that a theory's figures are drawn from
};
[[nodiscard]] constexpr std::uint64_t streamOf(Stream stream, std::uint64_t part = 0)
{
    return static_cast<std::uint64_t>(stream) + part;
}

/// 64 bits of SplitMix64, chained over seed, stream and index.
[[nodiscard]] std::uint64_t drawBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// Where `position` goes in the permutation of 0..size − 1 that `key` names: a six-round Feistel network, walked
/// until it lands inside. 0 ≤ position < size.
[[nodiscard]] std::int64_t permuted(std::int64_t position, std::int64_t size, std::uint64_t key);

/// The draws of one stream, one after another.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : m_seed(seed), m_stream(stream) {}

    [[nodiscard]] std::uint64_t bits() { return drawBits(m_seed, m_stream, m_index++); }
    [[nodiscard]] std::int64_t below(std::int64_t count) { return indexFrom(bits(), count); }
    /// In (0, 1), never an end.
    [[nodiscard]] double uniform();
    /// N(0, 1).
    [[nodiscard]] double gaussian();

private:
    std::uint64_t m_seed;
    std::uint64_t m_stream;
    std::uint64_t m_index = 0;
};

/// Philox 4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
class Philox {
public:
    explicit Philox(std::uint64_t key) : m_key(key) {}

    /// The four words at a counter.
    [[nodiscard]] std::array<std::uint32_t, 4> at(std::uint64_t counter) const;
    /// In [0, 1), of the first two words at a counter.
    [[nodiscard]] double uniform(std::uint64_t counter) const;
    [[nodiscard]] std::uint64_t key() const { return m_key; }

private:
    std::uint64_t m_key;
};

/// `all` in the order of their draws at their own numbers as counters: the first n are a random n of them.
[[nodiscard]] std::vector<std::size_t> inDrawnOrder(std::vector<std::size_t> all, const Philox& random);

/// A key from a seed and the name of a stream (FNV-1a, then a finaliser), so that streams of different names are
/// unrelated.
[[nodiscard]] std::uint64_t streamKey(std::int64_t seed, std::string_view name);

} // namespace residua
