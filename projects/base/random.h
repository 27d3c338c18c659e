// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace residua {

/// Counter-based random numbers: each is a function of a seed, a stream and an index. A resumed run needs no saved
/// state, and any part can be drawn in any order and thread. There are two generators because recorded runs depend on
/// both: SplitMix64 draws data, fits and texts; Philox draws initial weights and what a step leaves out.
/// Their numbers must not change.

// Conversions from bits, or from numbers in (0, 1).

/// Uniform in [0, 1), from the upper 53 bits.
[[nodiscard]] constexpr double uniformFrom(std::uint64_t bits)
{
    return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}
/// Uniform in (0, 1) without the ends: the middle of one of 2^32 equal parts.
[[nodiscard]] constexpr double uniformInside(std::uint32_t bits)
{
    return (static_cast<double>(bits) + 0.5) / 4294967296.0;
}
/// Uniform in 0..count − 1, with a bias below count/2⁶⁴. count > 0.
[[nodiscard]] std::int64_t indexFrom(std::uint64_t bits, std::int64_t count);
/// A draw from N(0, 1) by the Box–Muller transform of two independent uniform numbers in (0, 1).
[[nodiscard]] double gaussianFrom(double first, double second);
/// Two independent draws from N(0, 1) by the same transform. The first equals gaussianFrom().
[[nodiscard]] std::array<double, 2> gaussianPair(double first, double second);

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).

/// Returns the output for the state `value`. Neighbouring values give unrelated outputs.
[[nodiscard]] std::uint64_t splitMix(std::uint64_t value);

/// The purpose of a draw. Streams never share a draw, even under the same seed.
enum class Stream : std::uint64_t {
    Order = 0, ///< order of windows and epochs; one stream per split from here on
    Language = 16,
    Inputs = 32, ///< one stream per split from here on
    Noise = 48,  ///< one stream per split from here on
    Part = 56,   ///< choice among several texts; one stream per split from here on
    Target = 64,
    Subspace,
    Monomials,
    Offset,
    Tokens,         ///< tokens of a text that a model continues
    Theory,         ///< networks from which the theory's figures are computed
    Masking = 72,   ///< tokens that are hidden; one stream per split from here on
    Rows = 76,      ///< the order in which rows are split
    Changes,        ///< random changes of pictures
    Crops,          ///< parts of pictures
    Pairs = 80,     ///< the two texts of an example; one stream per split from here on
    Denoising = 84, ///< hidden spans; one stream per split from here on
    Acting = 88,    ///< steps drawn from a replay buffer, and random actions
    Diffusion = 92, ///< steps, noise and dropped classes of examples; one stream per split from here on
    Samples = 96,   ///< noise of images that a model makes
};
[[nodiscard]] constexpr std::uint64_t streamOf(Stream stream, std::uint64_t part = 0)
{
    return static_cast<std::uint64_t>(stream) + part;
}

/// Returns 64 bits of SplitMix64, chained over seed, stream and index.
[[nodiscard]] std::uint64_t drawBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// Returns the image of `position` under the permutation of 0..size − 1 selected by `key`. Uses a six-round Feistel
/// network with cycle walking. 0 ≤ position < size.
[[nodiscard]] std::int64_t permuted(std::int64_t position, std::int64_t size, std::uint64_t key);

/// Sequential draws of one stream.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : m_seed(seed), m_stream(stream) {}

    [[nodiscard]] std::uint64_t bits() { return drawBits(m_seed, m_stream, m_index++); }
    [[nodiscard]] std::int64_t below(std::int64_t count) { return indexFrom(bits(), count); }
    /// Uniform in (0, 1) without the ends.
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

    /// Returns the four words at a counter, and at one of 128 bits whose upper half is `high`.
    [[nodiscard]] std::array<std::uint32_t, 4> at(std::uint64_t counter, std::uint64_t high = 0) const;
    /// Uniform in [0, 1), from the first two words at a counter.
    [[nodiscard]] double uniform(std::uint64_t counter) const;
    [[nodiscard]] std::uint64_t key() const { return m_key; }

private:
    std::uint64_t m_key;
};

/// Sorts `all` by a random draw per number, with the number as counter. The first n are a random subset of size n.
[[nodiscard]] std::vector<std::size_t> inDrawnOrder(std::vector<std::size_t> all, const Philox& random);

/// Derives a key from a seed and a stream name (FNV-1a, then a finaliser). Different names give unrelated streams.
[[nodiscard]] std::uint64_t streamKey(std::int64_t seed, std::string_view name);

/// The initial value and the one-byte step of the 64-bit FNV-1a hash. It is fast and even, but collisions are easy to
/// construct.
inline constexpr std::uint64_t kFnvStart = 0xcbf29ce484222325;

[[nodiscard]] constexpr std::uint64_t fnvStep(std::uint64_t hash, std::uint8_t byte)
{
    return (hash ^ std::uint64_t{byte}) * 0x100000001b3;
}

} // namespace residua
