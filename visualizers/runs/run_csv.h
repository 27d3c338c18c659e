// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/csv_text.h"
#include "visualizers/plot/series.h"

#include <vector>

namespace residua::visualizers {

/// What a run's rows say: its recorded points as they came, NaN and infinity too, their moving average, and the points
/// of other curves beside them. A copy, of nothing but what is written.
class RunRows {
public:
    /// `lead` begins each row: the run, and what else tells the series from others. On the axis that all stand on.
    RunRows(QString lead, const Series& series, const std::vector<const Series*>& beside);

    /// Writes the rows: lead, step, x where that is not the step, recorded, smoothed (empty over a window of 1), and
    /// each that is beside (empty where it has no point).
    void write(QTextStream& out) const;

private:
    struct Points {
        explicit Points(const Curve& curve);
        void start(QTextStream& out, const QString& lead, std::size_t index) const;

        std::vector<double> steps;
        std::vector<double> x; ///< empty: the step
        std::vector<double> values;
        double unit;
    };

    QString m_lead;
    Points m_points;
    std::vector<Points> m_beside;
    double m_window;
};

} // namespace residua::visualizers
