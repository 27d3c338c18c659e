// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace residua {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

std::uint32_t lowWord(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value);
}

std::uint32_t highWord(std::uint64_t value)
{
    return static_cast<std::uint32_t>(value >> 32U);
}

} // namespace

std::int64_t indexFrom(std::uint64_t bits, std::int64_t count)
{
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::int64_t>((static_cast<Wide>(bits) * static_cast<std::uint64_t>(count)) >> 64);
}

double gaussianFrom(double first, double second)
{
    return std::sqrt(-2.0 * std::log(first)) * std::cos(2.0 * std::numbers::pi * second);
}

std::array<double, 2> gaussianPair(double first, double second)
{
    const double radius = std::sqrt(-2.0 * std::log(first));
    const double angle = 2.0 * std::numbers::pi * second;
    return {radius * std::cos(angle), radius * std::sin(angle)};
}

std::uint64_t splitMix(std::uint64_t value)
{
    value += kGolden;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111eb;
    return value ^ (value >> 31U);
}

std::uint64_t drawBits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
    // Each word is mixed before the next is added, so that different words with the same sum give different keys.
    const std::uint64_t key = splitMix(splitMix(seed) + stream * kGolden);
    return splitMix(key + index * kGolden);
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
    const double first = uniform(); // evaluated first, because the order of the draws determines the result
    return gaussianFrom(first, uniform());
}

std::array<std::uint32_t, 4> Philox::at(std::uint64_t counter, std::uint64_t high) const
{
    std::array<std::uint32_t, 4> x{lowWord(counter), highWord(counter), lowWord(high), highWord(high)};
    std::uint32_t k0 = lowWord(m_key);
    std::uint32_t k1 = highWord(m_key);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
        const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
        x = {highWord(b) ^ x[1] ^ k0, lowWord(b), highWord(a) ^ x[3] ^ k1, lowWord(a)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return x;
}

double Philox::uniform(std::uint64_t counter) const
{
    const std::array<std::uint32_t, 4> words = at(counter);
    return uniformFrom((std::uint64_t{words[0]} << 32U) | words[1]);
}

std::vector<std::size_t> inDrawnOrder(std::vector<std::size_t> all, const Philox& random)
{
    std::ranges::stable_sort(all, {}, [&](std::size_t each) { return random.uniform(each); });
    return all;
}

std::uint64_t streamKey(std::int64_t seed, std::string_view name)
{
    std::uint64_t hash = kFnvStart ^ (static_cast<std::uint64_t>(seed) * kGolden);
    for (const char c : name) {
        hash = fnvStep(hash, static_cast<std::uint8_t>(c));
    }
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
    hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
    return hash ^ (hash >> 33);
}

} // namespace residua
