// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

/// Where random tests begin.
namespace residua::tests {

/// The number that an environment variable holds, or `otherwise`.
template <class Number>
[[nodiscard]] Number numberFrom(const char* variable, Number otherwise)
{
    const char* const text = std::getenv(variable);
    if (text != nullptr) {
        std::from_chars(text, text + std::strlen(text), otherwise);
    }
    return otherwise;
}

/// The seed of this process: RESIDUA_RANDOM_SEED, or another one each time. It is printed at its first use, so that a
/// failure can be repeated; ctest shows it with the output of a test that failed.
[[nodiscard]] inline std::uint32_t randomSeed()
{
    static const std::uint32_t seed = [] {
        const auto value = numberFrom<std::uint32_t>("RESIDUA_RANDOM_SEED", std::random_device{}() % 1'000'000);
        std::printf("RESIDUA_RANDOM_SEED=%u does this again\n", static_cast<unsigned>(value));
        std::fflush(stdout);
        return value;
    }();
    return seed;
}

} // namespace residua::tests
