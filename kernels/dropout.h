// SPDX-License-Identifier: GPL-3.0-or-later
// Dropout whose draws are a function of the example, so that they do not depend on how a batch is divided. It follows
// the rules of depth_mix.h. With S = E·w·bytes per element, it moves 2 S and keeps no mask: the backward is the same
// function of the gradient.
#pragma once

#include "kernels/types.h"

#include <cstdint>

namespace residua::kernels {

/// out = in·scale where the element's draw is at least `threshold`, else 0.
///
/// The draws are Philox 4x32-10 under the key draws[0] ^ stream. Element e of example r has the word (e mod 64)/16 of
/// the counter {16·(e/64) + e mod 16, draws[1] + r}, each of 64 bits.
struct Dropout {
    DataType dataType = DataType::float32;
    std::int64_t examples = 0;            ///< E
    std::int64_t width = 0;               ///< w, elements of an example
    const void* in = nullptr;             ///< [E, w]
    void* out = nullptr;                  ///< [E, w], may be in
    const std::uint64_t* draws = nullptr; ///< the step's key and the number of the first example, where the data are
    std::uint64_t stream = 0;             ///< separates the draws of one step
    std::uint32_t threshold = 0;          ///< 2³² times the probability of dropping an element
    double scale = 1;
};

inline constexpr std::int64_t kDropoutCounters = 16; ///< consecutive counters whose words are consecutive elements
inline constexpr std::int64_t kDropoutGroup = 4 * kDropoutCounters;
// The multipliers and the key's increments of Philox.
inline constexpr std::uint32_t kPhiloxFirst = 0xD2511F53;
inline constexpr std::uint32_t kPhiloxSecond = 0xCD9E8D57;
inline constexpr std::uint32_t kPhiloxKeyFirst = 0x9E3779B9;
inline constexpr std::uint32_t kPhiloxKeySecond = 0xBB67AE85;
inline constexpr int kPhiloxRounds = 10;

/// Returns the first error of the arguments.
[[nodiscard]] Status validate(const Dropout& dropout);
[[nodiscard]] Status dropout(const Dropout& dropout, const Parallel& parallel = {});

} // namespace residua::kernels
