// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/series.h"

#include <cstddef>
#include <vector>

namespace residua::visualizers {

/// One recorded number over several runs that differ only in their seeds: the mean, and one standard deviation of the
/// sample below and above it, at the steps that all of them have recorded. For differences from other runs, the
/// band is the interval of 95 % of their mean (projects::intervalFactor). GUI thread.
class SeedBand {
public:
    void setAxis(XAxis axis, double flopPerUnit);
    /// Sets the number of points of each curve's moving average; 1: no average.
    void setWindow(double points);
    /// Computes the mean over these runs, at least one, or over the differences from their partners in `less`, which is
    /// empty or as long as `runs`. The series must be valid during the call only. Processes only new steps.
    void follow(const std::vector<const Series*>& runs, const std::vector<const Series*>& less = {});

    [[nodiscard]] const Curve& mean() const { return curveOf(m_mean); }
    [[nodiscard]] const Curve& low() const { return curveOf(m_low); }
    [[nodiscard]] const Curve& high() const { return curveOf(m_high); }
    [[nodiscard]] std::size_t runs() const { return m_count; }
    /// Returns the series of mean(), low() and high(), for tables of numbers.
    [[nodiscard]] std::vector<const Series*> series() const { return {&m_mean, &m_low, &m_high}; }

private:
    [[nodiscard]] const Curve& curveOf(const Series& series) const
    {
        return series.window() > 1 ? series.smooth() : series.raw();
    }
    [[nodiscard]] bool goesOn(const std::vector<const Series*>& runs) const;
    void grow();
    void add(const std::vector<std::size_t>& points);

    std::vector<const Series*> m_runs; ///< and then their partners
    std::size_t m_count = 0;           ///< of the runs
    double m_spread = 1;               ///< half height of the band in deviations; 0 for a single run
    std::vector<std::size_t> m_taken;  ///< number of points of each run that are included
    Series m_mean;
    Series m_low;
    Series m_high;
    XAxis m_axis = XAxis::Step;
    double m_flopPerUnit = 1;
    double m_window = 1;
};

} // namespace residua::visualizers
