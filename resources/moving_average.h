// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <optional>

namespace residua::resources {

/// An exponential moving average of a series. The first values are means of the points so far, so that it does not
/// begin at 0. It lags behind a series that rises or falls linearly, finally by `window` − 1 points. It ignores values
/// that are not finite. No thread of its own.
class MovingAverage {
public:
    /// Averages over about `window` points; with 1, it is the last point.
    explicit MovingAverage(double window = 1) : m_keep(1 - 1 / window) {}

    /// Returns the average including `value`; nullopt before the first finite value.
    [[nodiscard]] std::optional<double> add(double value)
    {
        if (std::isfinite(value)) {
            m_sum = m_keep * m_sum + (1 - m_keep) * value;
            m_weight = m_keep * m_weight + (1 - m_keep);
        }
        return m_weight > 0 ? std::optional(m_sum / m_weight) : std::nullopt;
    }

private:
    double m_keep;
    double m_sum = 0;
    double m_weight = 0;
};

} // namespace residua::resources
