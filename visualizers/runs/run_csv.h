// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/series.h"

#include <vector>

namespace residua::visualizers {

/// The rows of a run: its recorded points unchanged, including NaN and infinity, their moving average, and the points
/// of other curves. A copy of only the data that is written.
class RunRows {
public:
    /// `lead` begins each row with the run and other text that identifies the series. All use the current axis.
    RunRows(QString lead, const Series& series, const std::vector<const Series*>& beside);

    /// Writes the rows: lead, step, x unless it is the step, recorded value, smoothed value (empty for a window of 1),
    /// and the values of the other curves (empty if they have no point).
    void write(QTextStream& out) const;

private:
    struct Points {
        explicit Points(const Curve& curve);
        void start(QTextStream& out, const QString& lead, std::size_t index) const;

        std::vector<double> steps;
        std::vector<double> x; ///< empty if x is the step
        std::vector<double> values;
        double unit;
    };

    QString m_lead;
    Points m_points;
    std::vector<Points> m_beside;
    double m_window;
};

} // namespace residua::visualizers
