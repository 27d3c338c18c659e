// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace residua::resources {

/// An exponential moving average of a series. It averages over at most a fifth of the points so far, so that it neither
/// begins at 0 nor stays near the first points of a series that falls quickly at first. It lags behind a series that
/// rises or falls linearly, finally by `window` − 1 points. It ignores values that are not finite. No thread of its
/// own.
class MovingAverage {
public:
    /// Averages over about `window` points once there are enough; with 1, it is the last point.
    explicit MovingAverage(double window = 1) : m_window(window) {}

    /// Returns the average including `value`; nullopt before the first finite value.
    [[nodiscard]] std::optional<double> add(double value)
    {
        if (std::isfinite(value)) {
            m_mean += (value - m_mean) / std::min(m_window, 1 + m_count / kPointsPerPoint);
            ++m_count;
        }
        return m_count > 0 ? std::optional(m_mean) : std::nullopt;
    }

private:
    static constexpr double kPointsPerPoint = 5; ///< points so far for each further point of the window

    double m_window;
    double m_mean = 0;
    double m_count = 0; ///< of finite values
};

} // namespace residua::resources
