// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "projects/cost/stage_cost.h"
#include "projects/model/project.h"
#include "projects/schedule/stage_schedule.h"

#include <QPointF>
#include <QRectF>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace residua::app {

/// The part of the ribbon under the pointer.
enum class RibbonPart {
    None,
    Stage,  ///< inside a stage's bar
    Border, ///< the start of a stage
    Top,    ///< the upper edge of its bar, which is the average length
};
struct RibbonHit {
    RibbonPart part = RibbonPart::None;
    std::size_t stage = 0;
    bool operator==(const RibbonHit&) const = default;
};

/// The geometry of the schedule ribbon: bars over the steps whose height is the number of kept layers, with the
/// learning rate above. No window; widget coordinates in pixels.
class RibbonScene {
public:
    struct Bar {
        projects::StageSpan span;
        QRectF box;
    };

    void setPlan(const projects::StageSchedule& schedule, const projects::TrainingPlan& plan, std::int64_t depth);
    /// Sets the widget's size, and the room for labels on the left and below.
    void setRoom(QSizeF size, double left, double below);

    [[nodiscard]] const QRectF& rateBox() const { return m_rate; }
    [[nodiscard]] const QRectF& barBox() const { return m_bars; }
    [[nodiscard]] std::vector<Bar> bars() const;
    /// Returns the learning rate over the steps, with its largest value at the top of rateBox().
    [[nodiscard]] std::vector<QPointF> rateLine() const;
    [[nodiscard]] double largestRate() const;
    [[nodiscard]] double xOf(double step) const;
    [[nodiscard]] double yOf(double layers) const;
    [[nodiscard]] std::int64_t stepAt(double x) const;
    [[nodiscard]] double layersAt(double y) const; ///< an integer
    [[nodiscard]] RibbonHit hit(QPointF position) const;
    /// Returns about `count` round numbers of steps for labels, ascending.
    [[nodiscard]] std::vector<std::int64_t> ticks(int count) const;

private:
    projects::StageSchedule m_schedule;
    projects::TrainingPlan m_plan;
    std::int64_t m_depth = 1;
    QRectF m_rate;
    QRectF m_bars;
};

/// The texts of the ribbon's parts. Each list is ordered from the longest text to the shortest. The first one that fits
/// is shown. Lines are separated by newlines.

/// Returns the texts of a span: the parts that train, their selection, and the share of the FLOP with the savings.
/// `cost` is nullopt while it is unknown.
[[nodiscard]] QStringList spanTexts(const projects::StageSchedule& schedule, const projects::StageSpan& span,
                                    std::int64_t depth, std::int64_t steps,
                                    const std::optional<projects::SpanCost>& cost);
/// Returns the texts of a whole curve, from its first steps to its last. `costs`, of its spans, may be empty.
[[nodiscard]] QStringList curveTexts(const projects::StageSchedule& schedule, std::int64_t depth, std::int64_t steps,
                                     const std::vector<projects::SpanCost>& costs);
/// Returns the training loss before and after a border, and the jump; empty if the loss was not recorded.
[[nodiscard]] QStringList borderTexts(const engine::StageRecord& border);
/// Returns the memory of the steps of a span, including the weights: "1.2 GiB, at most 1.5 GiB".
[[nodiscard]] QString memoryText(const projects::CostReport& report, const projects::SpanCost& cost);

} // namespace residua::app
