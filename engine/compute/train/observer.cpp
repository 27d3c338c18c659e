// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/observer.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>

namespace residua::engine {
namespace {

constexpr double kWindowSeconds = 5;

} // namespace

void Throughput::add(const StepRecord& record)
{
    m_points.push_back({record.seconds, record.tokens});
    // Keeps the last point outside the window as the oldest one, so that slow steps are measured too.
    while (m_points.size() > 2 && record.seconds - m_points[1].seconds > kWindowSeconds) {
        m_points.pop_front();
    }
}

double Throughput::unitsPerSecond() const
{
    if (m_points.size() < 2) {
        return 0;
    }
    const double seconds = m_points.back().seconds - m_points.front().seconds;
    const auto units = static_cast<double>(m_points.back().units - m_points.front().units);
    return seconds > 0 ? units / seconds : 0;
}

LayerMagnitudes* Observer::magnitudes()
{
    m_magnitudes.clear();
    return &m_magnitudes;
}

std::vector<Matrix> Observer::observe(std::int64_t step)
{
    const at::NoGradGuard noGrad;
    std::vector<Matrix> matrices = m_network.coefficients(step);
    std::ranges::move(m_magnitudes.matrices(step), std::back_inserter(matrices));
    m_magnitudes.clear();
    return matrices;
}

} // namespace residua::engine
