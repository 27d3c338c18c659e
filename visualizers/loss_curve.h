// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace residua::visualizers {

/// What a curve is drawn against.
enum class XAxis { Step, Units, Flop, Seconds };

/// The recorded losses of one run, without a window: append-only but for a resumed run, whose steps
/// take the place of those they repeat.
class LossCurve {
public:
    struct Point {
        double x = 0;
        double y = 0;
    };

    /// Returns the index of the first training point that is new or changed. Costs the new points only.
    std::size_t append(const std::vector<engine::StepRecord>& steps,
                       const std::vector<engine::ValidationRecord>& validations);

    [[nodiscard]] const std::vector<engine::StepRecord>& steps() const { return m_steps; }
    [[nodiscard]] std::vector<Point> raw(XAxis axis, std::size_t from = 0) const;
    /// Exponential moving average over the window, corrected for its start; passes over what is not finite.
    [[nodiscard]] std::vector<Point> smoothed(XAxis axis, std::size_t from = 0) const;
    /// In steps; 1 draws the raw losses.
    void setWindow(double steps);
    [[nodiscard]] std::vector<Point> validation(XAxis axis) const;
    /// Training FLOP per token or sample; 1 until it is known. Tells whether that is a change.
    bool setFlopPerUnit(double flop) { return std::exchange(m_flopPerUnit, flop) != flop; }
    /// x of `step` on `axis`: that of the last recorded step at or before it.
    [[nodiscard]] double xOf(std::int64_t step, XAxis axis) const;

private:
    struct Average {
        double mean = 0;
        double weight = 0;
    };

    void extendAverages();
    [[nodiscard]] double xFrom(const engine::StepRecord& record, XAxis axis) const;

    std::vector<engine::StepRecord> m_steps;
    std::vector<Average> m_averages; ///< after each step, so that a resumed run goes on from any of them
    double m_window = 1;
    double m_flopPerUnit = 1;
    std::vector<engine::ValidationRecord> m_validations;
};

} // namespace residua::visualizers
