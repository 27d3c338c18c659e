// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/text.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

/// Where random tests begin.
namespace residua::tests {

/// The number that an environment variable holds, or `otherwise` where it is not set. A text that is no such number
/// ends the program, because a test would otherwise not repeat what it was asked to.
template <class Number>
[[nodiscard]] Number numberOf(const char* variable, Number otherwise)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) {
        return otherwise;
    }
    const auto number = numberFrom<Number>(text);
    if (!number) {
        std::fprintf(stderr, "%s=%s: expected a whole number\n", variable, text);
        std::exit(2);
    }
    return *number;
}

/// The seed of this process: RESIDUA_RANDOM_SEED, or another one each time. It is printed at its first use, so that a
/// failure can be repeated; ctest shows it with the output of a test that failed.
[[nodiscard]] inline std::uint32_t randomSeed()
{
    static const std::uint32_t seed = [] {
        const auto value = numberOf<std::uint32_t>("RESIDUA_RANDOM_SEED", std::random_device{}() % 1'000'000);
        std::printf("RESIDUA_RANDOM_SEED=%u does this again\n", static_cast<unsigned>(value));
        std::fflush(stdout);
        return value;
    }();
    return seed;
}

} // namespace residua::tests
