// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/curve.h"
#include "resources/moving_average.h"

#include <array>
#include <cstddef>

namespace residua::visualizers {

using resources::Curve;
using resources::MovingAverage;

/// What a curve is drawn against.
enum class XAxis { Step, Units, Flop, Seconds };

/// One recorded number of a run: its points, and their moving average, which follows them as there is time for it.
class Series {
public:
    /// Where a point stands: step, tokens or samples, seconds, and how many tokens or samples through the whole
    /// network take the FLOP so far.
    using Positions = std::array<double, 4>;

    /// Adds a point. A step at or before the last throws away the points from it on. What does not ascend on another
    /// axis, as in a damaged record, stands where the last point does.
    void append(const Positions& positions, double y);
    /// Throws away the points from `step` on.
    void cut(double step);
    /// Sets the axis of raw() and smooth(). FLOP are units through the whole network times `flopPerUnit`.
    void setAxis(XAxis axis, double flopPerUnit);
    /// Points that smooth() is the mean over; 1: it stays empty. It begins anew, and grows by catchUp alone.
    void setWindow(double points);
    [[nodiscard]] double window() const { return m_window; }
    /// Takes up to `most` further points into smooth(), and returns how many it took.
    std::size_t catchUp(std::size_t most);

    [[nodiscard]] const Curve& raw() const { return m_raw; }
    [[nodiscard]] const Curve& smooth() const { return m_smooth; }
    /// Where `step` stands: beside the last point at or before it, at 0 before the first.
    [[nodiscard]] Positions positionsOf(double step) const;

private:
    [[nodiscard]] Positions positionsAt(std::size_t index) const;

    Curve m_raw{std::tuple_size_v<Positions>};
    Curve m_smooth{std::tuple_size_v<Positions>};
    double m_window = 1;
    MovingAverage m_average;
    std::size_t m_averaged = 0; ///< points that the average has seen
};

} // namespace residua::visualizers
