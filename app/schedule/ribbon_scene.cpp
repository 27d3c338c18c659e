// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/ribbon_scene.h"

#include "projects/base/real.h"
#include "resources/axis.h"

#include <algorithm>
#include <cmath>

namespace residua::app {

namespace {

constexpr double kRateShare = 0.28; ///< share of the height
constexpr double kGap = 24;         ///< room for the last label of the rate and the first of the layers
constexpr double kMargin = 12;
constexpr double kGrip = 5; ///< pixels on both sides of an edge in which it can be grabbed

} // namespace

void RibbonScene::setPlan(const projects::StageSchedule& schedule, const projects::TrainingPlan& plan,
                          std::int64_t depth)
{
    m_schedule = schedule;
    m_plan = plan;
    m_plan.steps = std::clamp<std::int64_t>(plan.steps, 1, kMostExactWhole);
    m_depth = std::max<std::int64_t>(depth, 1);
}

void RibbonScene::setRoom(QSizeF size, double left, double below)
{
    const double width = std::max(size.width() - left - kMargin, 1.0);
    const double height = std::max(size.height() - below - 2 * kMargin - kGap, 2.0);
    m_rate = QRectF(left, kMargin, width, height * kRateShare);
    m_bars = QRectF(left, m_rate.bottom() + kGap, width, height * (1 - kRateShare));
}

double RibbonScene::xOf(double step) const
{
    return m_bars.left() + m_bars.width() * step / static_cast<double>(m_plan.steps);
}

double RibbonScene::yOf(double layers) const
{
    return m_bars.bottom() - m_bars.height() * layers / static_cast<double>(m_depth);
}

std::int64_t RibbonScene::stepAt(double x) const
{
    const double share = std::clamp((x - m_bars.left()) / m_bars.width(), 0.0, 1.0);
    return std::llround(share * static_cast<double>(m_plan.steps));
}

double RibbonScene::layersAt(double y) const
{
    const double share = std::clamp((m_bars.bottom() - y) / m_bars.height(), 0.0, 1.0);
    return std::round(share * static_cast<double>(m_depth));
}

std::vector<RibbonScene::Bar> RibbonScene::bars() const
{
    std::vector<Bar> bars;
    for (const projects::StageSpan& span : projects::spansOf(m_schedule, m_depth, m_plan.steps)) {
        const double left = xOf(static_cast<double>(span.from));
        const double top = yOf(std::clamp(span.averageLength, 0.0, static_cast<double>(m_depth)));
        bars.push_back({span, QRectF(QPointF(left, top), QPointF(xOf(static_cast<double>(span.to)), m_bars.bottom()))});
    }
    return bars;
}

double RibbonScene::largestRate() const
{
    double largest = 0;
    const int columns = std::max(static_cast<int>(m_rate.width()), 1);
    for (int i = 0; i <= columns; ++i) {
        const std::int64_t step = stepAt(m_rate.left() + m_rate.width() * i / columns);
        largest = std::max(largest, learningRateAt(m_plan, m_schedule, std::max<std::int64_t>(step, 1)));
    }
    return std::max(
        largest,
        learningRateAt(m_plan, m_schedule, std::clamp<std::int64_t>(m_plan.learningRate.warmupSteps, 1, m_plan.steps)));
}

std::vector<QPointF> RibbonScene::rateLine() const
{
    const double largest = largestRate();
    std::vector<QPointF> line;
    const int columns = std::max(static_cast<int>(m_rate.width()), 1);
    for (int i = 0; i <= columns && largest > 0; ++i) {
        const double x = m_rate.left() + m_rate.width() * i / columns;
        const double rate = learningRateAt(m_plan, m_schedule, std::max<std::int64_t>(stepAt(x), 1));
        line.emplace_back(x, m_rate.bottom() - m_rate.height() * std::clamp(rate / largest, 0.0, 1.0));
    }
    return line;
}

RibbonHit RibbonScene::hit(QPointF position) const
{
    RibbonHit found;
    for (const Bar& bar : bars()) {
        if (!bar.span.isStage() || position.y() > bar.box.bottom()) {
            continue;
        }
        const bool beside = std::abs(position.x() - bar.box.left()) <= kGrip;
        if (beside && position.y() >= m_bars.top() - kGrip) {
            return {RibbonPart::Border, bar.span.stage};
        }
        if (position.x() < bar.box.left() || position.x() > bar.box.right()) {
            continue;
        }
        if (std::abs(position.y() - bar.box.top()) <= kGrip) {
            found = {RibbonPart::Top, bar.span.stage};
        } else if (bar.box.contains(position)) {
            found = {RibbonPart::Stage, bar.span.stage};
        }
    }
    return found;
}

std::vector<std::int64_t> RibbonScene::ticks(int count) const
{
    std::vector<std::int64_t> ticks;
    for (const auto& [step, label] : resources::linearTicks({0, static_cast<double>(m_plan.steps)}, count, 1)) {
        ticks.push_back(static_cast<std::int64_t>(step));
    }
    return ticks;
}

} // namespace residua::app
