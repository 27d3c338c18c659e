// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/random.h"

#include "projects/base/gaussian.h"

namespace residua::engine {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

std::uint64_t scrambled(std::uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

} // namespace

std::uint64_t drawBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
    // Each word is scrambled before the next is added, so that no sum of words can stand for another.
    const std::uint64_t key = scrambled(scrambled(seed + kGolden) + (stream + 1) * kGolden);
    return scrambled(key + (index + 1) * kGolden);
}

std::int64_t below(std::uint64_t bits, std::int64_t count)
{
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>((static_cast<Wide>(bits) * static_cast<std::uint64_t>(count)) >> 64);
}

std::int64_t permuted(std::int64_t position, std::int64_t size, std::uint64_t key)
{
    int halfBits = 1;
    while ((std::int64_t{1} << (2 * halfBits)) < size) {
        ++halfBits;
    }
    const std::uint64_t mask = (std::uint64_t{1} << halfBits) - 1;
    auto value = static_cast<std::uint64_t>(position);
    do {
        std::uint64_t left = value >> halfBits;
        std::uint64_t right = value & mask;
        for (std::uint64_t round = 0; round < 6; ++round) {
            const std::uint64_t next = left ^ (drawBits(key, round, right) & mask);
            left = right;
            right = next;
        }
        value = (left << halfBits) | right;
    } while (value >= static_cast<std::uint64_t>(size));
    return static_cast<std::int64_t>(value);
}

double RandomStream::uniform()
{
    return (static_cast<double>(bits() >> 12) + 0.5) * 0x1.0p-52;
}

double RandomStream::gaussian()
{
    const double first = uniform(); // the order of the two draws decides the number
    return gaussianFrom(first, uniform());
}

} // namespace residua::engine
