// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/series.h"

#include <algorithm>
#include <cmath>

namespace residua::visualizers {

void Series::append(const Positions& positions, double y)
{
    cut(positions.front());
    Positions ascending = positions;
    for (std::size_t axis = 1; axis < positions.size(); ++axis) {
        const double last = m_raw.size() > 0 ? m_raw.positions(axis).back() : 0;
        ascending[axis] = positions[axis] >= last && std::isfinite(positions[axis]) ? positions[axis] : last;
    }
    m_raw.append(ascending, y);
}

void Series::cut(double step)
{
    const std::size_t kept = m_raw.indexOf(step);
    m_raw.truncate(kept);
    if (kept < m_averaged) {
        setWindow(m_window); // the average cannot go back
    }
}

void Series::setAxis(XAxis axis, double flopPerUnit)
{
    constexpr std::array<std::size_t, 5> kPositions{0, 1, 3, 2, 4}; // by XAxis
    const std::size_t position = kPositions[static_cast<std::size_t>(axis)];
    for (Curve* curve : {&m_raw, &m_smooth}) {
        curve->setAxis(position, axis == XAxis::Flop ? flopPerUnit : 1);
    }
}

void Series::setWindow(double points)
{
    m_window = std::max(points, 1.0);
    m_average = MovingAverage(m_window);
    m_averaged = 0;
    m_smooth.clear();
}

std::size_t Series::catchUp(std::size_t most)
{
    if (m_window <= 1) {
        return 0;
    }
    const std::size_t from = m_averaged;
    const std::size_t to = from + std::min(most, m_raw.size() - from);
    for (; m_averaged < to; ++m_averaged) {
        if (const auto mean = m_average.add(m_raw.values()[m_averaged])) {
            m_smooth.append(positionsAt(m_averaged), *mean);
        }
    }
    return to - from;
}

Series::Positions Series::positionsAt(std::size_t index) const
{
    Positions positions{};
    for (std::size_t axis = 0; axis < positions.size(); ++axis) {
        positions[axis] = m_raw.positions(axis)[index];
    }
    return positions;
}

Series::Positions Series::positionsOf(double step) const
{
    const std::size_t after = m_raw.indexOf(std::nextafter(step, step + 1));
    Positions positions = after > 0 ? positionsAt(after - 1) : Positions{};
    positions.front() = step;
    return positions;
}

} // namespace residua::visualizers
