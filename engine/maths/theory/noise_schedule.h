// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/diffusion.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace residua::engine {

/// The variances of the steps of a diffusion (Ho et al., 2020, section 2 and equations 4, 6 and 7), from step 0, which
/// adds the least noise. With ᾱ = Π α over the steps up to this one and α = 1 − β, an example with noise is
/// √ᾱ · x + √(1 − ᾱ) · ε.
class NoiseSchedule {
public:
    /// The schedule of training: β rises linearly from the first step to the last.
    explicit NoiseSchedule(const projects::Diffusion& diffusion);
    /// Returns the schedule of these steps of training alone, ascending, whose β follow from ᾱ of neighbours (Nichol
    /// and Dhariwal, 2021, section 4).
    [[nodiscard]] NoiseSchedule of(const std::vector<std::int64_t>& steps) const;

    [[nodiscard]] std::size_t size() const { return m_steps.size(); }
    /// Returns the step of training, which the network reads.
    [[nodiscard]] std::int64_t step(std::size_t i) const { return m_steps[i]; }
    [[nodiscard]] double alphaBar(std::size_t i) const { return m_alphaBars[i]; }
    /// Returns ᾱ of the step before, or 1.
    [[nodiscard]] double alphaBarBefore(std::size_t i) const { return i == 0 ? 1 : m_alphaBars[i - 1]; }
    [[nodiscard]] double beta(std::size_t i) const { return 1 - m_alphaBars[i] / alphaBarBefore(i); }
    /// Returns ln of the variance β̃ of the step back given the example. That of step 0, which is 0, is replaced by that
    /// of step 1, or of a single step by its β.
    [[nodiscard]] double logPosteriorVariance(std::size_t i) const;

private:
    NoiseSchedule() = default;

    std::vector<std::int64_t> m_steps;
    std::vector<double> m_alphaBars;
};

/// Returns `count` of `steps` steps, ascending, from the first to the last and evenly spaced up to rounding: 0, 4, 8,
/// …, 995, 999 for 250 of 1000. A single one is the last. 1 ≤ count ≤ steps.
[[nodiscard]] std::vector<std::int64_t> evenSteps(std::int64_t steps, std::int64_t count);
/// Returns `count` of `steps` steps, ascending, from the first with a stride of steps/count up to rounding: 0, 20, …,
/// 980 for 50 of 1000 (Song et al., 2021).
[[nodiscard]] std::vector<std::int64_t> stridedSteps(std::int64_t steps, std::int64_t count);

} // namespace residua::engine
