// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/loss_figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace residua::report {
namespace {

using engine::MetricPoint;

constexpr std::size_t kSmoothing = 10; ///< steps of the moving average
constexpr double kMostPlaces = 9e18;   ///< that a plot's whole numbers hold
constexpr double kMillisecond = 1e-3;

std::vector<MetricPoint> smoothed(const std::vector<MetricPoint>& points)
{
    const double keep = 1.0 - 1.0 / static_cast<double>(kSmoothing);
    double mean = 0;
    double weight = 0;
    std::vector<MetricPoint> result;
    for (const auto& point : points) {
        if (std::isfinite(point.value)) {
            mean = keep * mean + (1 - keep) * point.value;
            weight = keep * weight + (1 - keep);
            result.push_back({point.step, mean / weight});
        }
    }
    return result;
}

std::int64_t placeOf(const LossAxis& axis, std::int64_t step)
{
    const double place = axis.at(step) / axis.unit;
    return place > 0 ? static_cast<std::int64_t>(std::min(place, kMostPlaces)) : 0; // of a damaged record it may be NaN
}

} // namespace

LossAxis byStep()
{
    return {"Loss", "step", [](std::int64_t step) { return static_cast<double>(step); }};
}

LossAxis byFlop(std::function<double(std::int64_t step)> flopsAt)
{
    return {"Loss against training FLOP", "FLOP", std::move(flopsAt)};
}

LossAxis byTime(std::vector<MetricPoint> seconds)
{
    double last = 0;
    for (MetricPoint& time : seconds) {
        last = time.value > last ? time.value : last; // NaN is not greater
        time.value = last;
    }
    const auto at = [seconds = std::move(seconds)](std::int64_t step) {
        const auto after = std::ranges::upper_bound(seconds, step, {}, &MetricPoint::step);
        return after == seconds.begin() ? 0.0 : std::prev(after)->value;
    };
    return {"Loss against training time", "seconds", at, kMillisecond};
}

std::vector<MetricPoint> placed(const LossAxis& axis, std::vector<MetricPoint> points)
{
    for (MetricPoint& point : points) {
        point.step = placeOf(axis, point.step);
    }
    return points;
}

PlotSpec lossFigure(const engine::RunReader& run, const std::vector<engine::StageRecord>& stages, const LossAxis& axis)
{
    const auto loss = run.metric(engine::metric::kLoss);
    PlotSpec spec{axis.title,
                  axis.label,
                  "loss",
                  {{"", placed(axis, loss), Stroke::Faint, 0},
                   {"training (smoothed)", placed(axis, smoothed(loss)), Stroke::Solid, 0},
                   {"validation", placed(axis, run.metric(engine::metric::kValidationLoss)), Stroke::Dashed, 1}}};
    if (auto ofStage = run.metric(engine::metric::kStageLoss); !ofStage.empty()) {
        spec.curves.push_back({"validation of the stage", placed(axis, std::move(ofStage)), Stroke::Dotted, 2});
    }
    for (const engine::StageRecord& stage : stages) {
        spec.bands.push_back({placeOf(axis, stage.step), stage.name});
    }
    spec.xUnit = axis.unit;
    return spec;
}

} // namespace residua::report
