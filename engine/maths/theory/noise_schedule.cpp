// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/theory/noise_schedule.h"

#include <algorithm>
#include <cmath>

namespace residua::engine {

NoiseSchedule::NoiseSchedule(const projects::Diffusion& diffusion)
{
    double product = 1;
    const auto last = static_cast<double>(diffusion.steps - 1);
    for (std::int64_t step = 0; step < diffusion.steps; ++step) {
        const double share = last > 0 ? static_cast<double>(step) / last : 0;
        product *= 1 - (diffusion.first + share * (diffusion.last - diffusion.first));
        m_steps.push_back(step);
        m_alphaBars.push_back(product);
    }
}

NoiseSchedule NoiseSchedule::of(const std::vector<std::int64_t>& steps) const
{
    NoiseSchedule kept;
    kept.m_steps = steps;
    std::ranges::transform(steps, std::back_inserter(kept.m_alphaBars),
                           [&](std::int64_t step) { return m_alphaBars[static_cast<std::size_t>(step)]; });
    return kept;
}

double NoiseSchedule::logPosteriorVariance(std::size_t i) const
{
    if (size() == 1) {
        return std::log(beta(0));
    }
    const std::size_t from = std::max<std::size_t>(i, 1);
    return std::log(beta(from) * (1 - alphaBarBefore(from)) / (1 - alphaBar(from)));
}

std::vector<std::int64_t> evenSteps(std::int64_t steps, std::int64_t count)
{
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < count; ++i) {
        chosen.push_back(count == 1 ? steps - 1
                                    : std::llround(static_cast<double>(i) * static_cast<double>(steps - 1) /
                                                   static_cast<double>(count - 1)));
    }
    return chosen;
}

std::vector<std::int64_t> stridedSteps(std::int64_t steps, std::int64_t count)
{
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < count; ++i) {
        chosen.push_back(i * steps / count);
    }
    return chosen;
}

} // namespace residua::engine
