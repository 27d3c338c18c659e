// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from data_source.h, so that the engine's mathematics need not include the sources of data.

#include <cstdint>

namespace residua::projects {

/// The noise that the objective denoising diffusion adds to examples (Ho et al., 2020; Nichol and Dhariwal, 2021). The
/// variances β of the steps rise linearly from `first` to `last`. Step t of an example is drawn uniformly, and the
/// network reads √ᾱ_t · x + √(1 − ᾱ_t) · ε, the step and the class.
struct Diffusion {
    std::int64_t steps = 1000;
    double first = 1e-4;
    double last = 0.02;
    bool learnsVariance = true; ///< the output has a share of the range of variances beside each value of the noise
    double labelDropout = 0.1;  ///< share of the training examples whose class becomes the null class, the last one
    bool operator==(const Diffusion&) const = default;
};
inline constexpr std::int64_t kMostDiffusionSteps = 100'000;

} // namespace residua::projects
