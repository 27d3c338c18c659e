// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

namespace residua::projects {

/// The number of tokens in each split. In the text, training comes first, then validation, then test.
struct SplitSizes {
    std::int64_t training = 0;
    std::int64_t validation = 0;
    std::int64_t test = 0;
};

/// Computes the split sizes. The fractions are of all tokens, rounded down; the rest is for training.
[[nodiscard]] inline SplitSizes splitSizes(std::int64_t tokens, double validationFraction, double testFraction)
{
    const auto share = [&](double fraction) {
        return static_cast<std::int64_t>(std::floor(static_cast<double>(tokens) * fraction));
    };
    const std::int64_t validation = share(validationFraction);
    const std::int64_t test = share(testFraction);
    return {tokens - validation - test, validation, test};
}

enum class SplitUse { Training, HeldOut };
/// True if a split has too few tokens for one sequence and the token after it. A held-out split may be empty.
[[nodiscard]] inline bool isTooShort(std::int64_t tokens, SplitUse use, std::int64_t sequenceLength)
{
    return tokens <= sequenceLength && (use == SplitUse::Training || tokens > 0);
}

} // namespace residua::projects
