// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/loss_figures.h"

#include "resources/moving_average.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace residua::report {
namespace {

using engine::MetricPoint;

constexpr double kMostSmoothing = 10;   ///< steps of the moving average
constexpr double kSmoothedShare = 0.01; ///< share of the steps in the average, so small that the lag is invisible
constexpr double kMostPlaces = 9e18;    ///< limit of a plot's integers
constexpr double kMillisecond = 1e-3;

/// Returns the number of steps in the moving average of so many points; 1: no average.
double windowOf(std::size_t points)
{
    return std::clamp(std::floor(kSmoothedShare * static_cast<double>(points)), 1.0, kMostSmoothing);
}

std::vector<MetricPoint> smoothed(const std::vector<MetricPoint>& points, double window)
{
    resources::MovingAverage average(window);
    std::vector<MetricPoint> result;
    for (const auto& point : points) {
        if (std::isfinite(point.value)) {
            result.push_back({point.step, *average.add(point.value)});
        }
    }
    return result;
}

/// Returns the training loss as recorded, with its moving average if the run is long enough.
std::vector<Curve> trainingCurves(const LossAxis& axis, const std::vector<MetricPoint>& loss)
{
    const double window = windowOf(loss.size());
    if (window <= 1) {
        return {{"training", placed(axis, loss), Stroke::Solid, 0}};
    }
    return {{"", placed(axis, loss), Stroke::Faint, 0},
            {"training (smoothed)", placed(axis, smoothed(loss, window)), Stroke::Solid, 0}};
}

std::int64_t placeOf(const LossAxis& axis, std::int64_t step)
{
    const double place = axis.at(step) / axis.unit;
    return place > 0 ? static_cast<std::int64_t>(std::min(place, kMostPlaces)) : 0; // may be NaN in a damaged record
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
    PlotSpec spec{axis.title, axis.label, "loss", trainingCurves(axis, run.metric(engine::metric::kLoss))};
    spec.curves.push_back({"validation", placed(axis, run.metric(engine::metric::kValidationLoss)), Stroke::Dashed, 1});
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
