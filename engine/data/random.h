// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace residua::engine {

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
};
[[nodiscard]] constexpr std::uint64_t streamOf(Stream stream, std::uint64_t part = 0)
{
    return static_cast<std::uint64_t>(stream) + part;
}

/// Draws by counter: each is a hash of its own name (seed, stream, index), so it needs no state, and the cursor of
/// a run is the index alone. The hash is the output function of SplitMix64 (Steele, Lea, Flood 2014), chained.
[[nodiscard]] std::uint64_t drawBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// Uniform in 0..count − 1 from 64 random bits; the bias is below count/2⁶⁴. count > 0.
[[nodiscard]] std::int64_t below(std::uint64_t bits, std::int64_t count);

/// Where `position` goes in the permutation of 0..size − 1 that `key` names: a six-round Feistel network, walked
/// until it lands inside. 0 ≤ position < size.
[[nodiscard]] std::int64_t permuted(std::int64_t position, std::int64_t size, std::uint64_t key);

/// The draws of one stream, one after another.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : m_seed(seed), m_stream(stream) {}

    [[nodiscard]] std::uint64_t bits() { return drawBits(m_seed, m_stream, m_index++); }
    [[nodiscard]] std::int64_t below(std::int64_t count) { return engine::below(bits(), count); }
    /// In (0, 1), never an end.
    [[nodiscard]] double uniform();
    /// N(0, 1), by Box and Muller.
    [[nodiscard]] double gaussian();

private:
    std::uint64_t m_seed;
    std::uint64_t m_stream;
    std::uint64_t m_index = 0;
};

} // namespace residua::engine
