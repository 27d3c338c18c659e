// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <QPointF>
#include <QRectF>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::app {

/// What of the ribbon is under the pointer.
enum class RibbonPart {
    None,
    Stage,  ///< inside a stage's bar
    Border, ///< where a stage begins
    Top,    ///< the upper edge of its bar: the average length
};
struct RibbonHit {
    RibbonPart part = RibbonPart::None;
    std::size_t stage = 0;
    bool operator==(const RibbonHit&) const = default;
};

/// Where the schedule ribbon's parts lie: bars over the steps, as high as layers are kept, the learning rate above
/// them. No window; widget coordinates in pixels.
class RibbonScene {
public:
    struct Bar {
        projects::StageSpan span;
        QRectF box;
    };

    void setPlan(const projects::StageSchedule& schedule, const projects::TrainingPlan& plan, std::int64_t depth);
    /// Sets the widget's size, and the room that labels need at the left and below.
    void setRoom(QSizeF size, double left, double below);

    [[nodiscard]] const QRectF& rateBox() const { return m_rate; }
    [[nodiscard]] const QRectF& barBox() const { return m_bars; }
    [[nodiscard]] std::vector<Bar> bars() const;
    /// The learning rate over the steps, its largest value at the top of rateBox().
    [[nodiscard]] std::vector<QPointF> rateLine() const;
    [[nodiscard]] double largestRate() const;
    [[nodiscard]] double xOf(double step) const;
    [[nodiscard]] double yOf(double layers) const;
    [[nodiscard]] std::int64_t stepAt(double x) const;
    [[nodiscard]] double layersAt(double y) const; ///< whole
    [[nodiscard]] RibbonHit hit(QPointF position) const;
    /// Round numbers of steps to label, about `count` of them, ascending.
    [[nodiscard]] std::vector<std::int64_t> ticks(int count) const;

private:
    projects::StageSchedule m_schedule;
    projects::TrainingPlan m_plan;
    std::int64_t m_depth = 1;
    QRectF m_rate;
    QRectF m_bars;
};

} // namespace residua::app
