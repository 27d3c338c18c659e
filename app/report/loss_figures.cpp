// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/loss_figures.h"

#include "app/report/html_text.h"
#include "engine/data/sets/project_bounds.h"
#include "resources/axis.h"
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
std::vector<PlotCurve> trainingCurves(const LossAxis& axis, const std::vector<MetricPoint>& loss)
{
    const double window = windowOf(loss.size());
    if (window <= 1) {
        return {{"training", placed(axis, loss), Stroke::Solid, 0}};
    }
    return {{"", placed(axis, loss), Stroke::Faint, 0},
            {"training (smoothed)", placed(axis, smoothed(loss, window)), Stroke::Solid, 0}};
}

using engine::BoundKind;
using engine::MetricPoint;
using engine::ProjectBound;
using resources::shortNumber;

/// The tolerance of the comparison with a bound, for rounding errors when the loss stays at its floor while the bound
/// decreases.
constexpr double kRounding = 1e-12;

std::string unmetPremise(const ProjectBound& bound)
{
    const auto unmet = std::ranges::find(bound.premises, false, &engine::theory::Premise::met);
    return "does not apply: " + unmet->text + " is not met (" + unmet->got + ")";
}

/// Returns the finite losses of a bound at these steps; none if the theorem does not apply.
resources::Curve curveOf(const ProjectBound& bound, const std::vector<std::int64_t>& steps)
{
    resources::Curve curve;
    for (std::size_t i = 0; bound.applies() && i < steps.size(); ++i) {
        if (std::isfinite(bound.losses[i])) {
            curve.append(static_cast<double>(steps[i]), bound.losses[i]);
        }
    }
    return curve;
}

/// Returns the verdict over all steps.
std::string verdict(const ProjectBound& bound, const std::vector<MetricPoint>& loss)
{
    if (!bound.applies()) {
        return unmetPremise(bound);
    }
    if (bound.kind == BoundKind::Reachable) {
        const auto least = std::ranges::min_element(loss, {}, &MetricPoint::value);
        return (least->value <= bound.losses.front() ? "reached: the least loss is "
                                                     : "not reached: the least loss is ") +
               shortNumber(least->value) + ", the bound " + shortNumber(bound.losses.front());
    }
    const double slack = kRounding * std::abs(loss.front().value);
    for (std::size_t i = 0; i < loss.size(); ++i) {
        const bool holds = bound.kind == BoundKind::Below ? loss[i].value >= bound.losses[i] - slack
                                                          : loss[i].value <= bound.losses[i] + slack;
        if (!holds) {
            return "broken at step " + std::to_string(loss[i].step) + ": loss " + shortNumber(loss[i].value) +
                   ", bound " + shortNumber(bound.losses[i]);
        }
    }
    return "holds at each of " + std::to_string(loss.size()) + " steps";
}

/// Returns at most `count` steps, including the first and the last.
std::vector<std::int64_t> stepsOver(std::int64_t last, std::int64_t count)
{
    std::vector<std::int64_t> steps;
    for (std::int64_t i = 0; i < std::min(last, count); ++i) {
        steps.push_back(last <= count ? i + 1 : 1 + i * (last - 1) / (count - 1));
    }
    return steps;
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
    const auto at = [seconds = std::move(seconds)](std::int64_t step) {
        const auto after = std::ranges::upper_bound(seconds, step, {}, &MetricPoint::step);
        return after == seconds.begin() ? 0.0 : std::prev(after)->value;
    };
    return {"Loss against training time", "seconds", at, 0};
}

LossAxis byEnvironmentSteps(const projects::WorldData& world)
{
    return {"Loss against environment steps", "environment steps",
            [world](std::int64_t step) { return static_cast<double>(projects::environmentStepsAt(world, step)); }};
}

resources::Curve placed(const LossAxis& axis, const std::vector<MetricPoint>& points)
{
    resources::Curve curve;
    double last = 0;
    for (const MetricPoint& point : points) {
        last = std::max(last, axis.at(point.step)); // NaN is not greater
        curve.append(last, point.value);
    }
    return curve;
}

std::optional<resources::AxisRange> boundsOf(std::string_view metric)
{
    return engine::isShare(metric) ? std::optional(resources::kShares) : std::nullopt;
}

PlotSpec lossFigure(const engine::RunReader& run, const std::vector<engine::StageRecord>& stages, const LossAxis& axis)
{
    PlotSpec spec{axis.title, axis.label, "loss", trainingCurves(axis, run.metric(engine::metric::kLoss))};
    spec.curves.push_back({"validation", placed(axis, run.metric(engine::metric::kValidationLoss)), Stroke::Dashed, 1});
    if (const auto ofStage = run.metric(engine::metric::kStageLoss); !ofStage.empty()) {
        spec.curves.push_back({"validation of the stage", placed(axis, ofStage), Stroke::Dotted, 2});
    }
    for (const engine::StageRecord& stage : stages) {
        const double before = spec.bands.empty() ? 0 : spec.bands.back().from;
        spec.bands.push_back({std::max(before, axis.at(stage.step)), stage.name});
    }
    spec.xLeast = axis.least;
    return spec;
}

std::vector<resources::BoundCurve> boundCurves(const projects::Project& project, std::int64_t count)
{
    const std::vector<std::int64_t> steps = stepsOver(project.training.steps, count);
    std::vector<resources::BoundCurve> curves;
    for (const ProjectBound& bound : engine::boundsOf(project, steps)) {
        if (bound.applies()) {
            curves.push_back({bound.name, bound.claim, curveOf(bound, steps), bound.caveat});
        }
    }
    return curves;
}

std::string boundFigures(const std::string& title, const projects::Project& project,
                         const std::vector<MetricPoint>& loss)
{
    if (loss.empty()) {
        return {};
    }
    std::vector<std::int64_t> steps;
    std::ranges::transform(loss, std::back_inserter(steps), &MetricPoint::step);
    std::string html;
    for (const ProjectBound& bound : engine::boundsOf(project, steps)) {
        const char* const kind = bound.kind == BoundKind::Below ? "lower bound" : "upper bound";
        html += "<figure>" +
                svgPlot({title + " · " + bound.name,
                         "step",
                         "loss",
                         {{"measured", placed(byStep(), loss), Stroke::Solid, 0},
                          {kind, curveOf(bound, steps), Stroke::Dashed, 1}},
                         AxisScale::Logarithmic}) +
                "<p>" +
                escapeHtml(bound.name + ", " + bound.claim + ": " + verdict(bound, loss) +
                           (bound.caveat.empty() ? "" : ". " + bound.caveat)) +
                "</p></figure>";
    }
    return html;
}

} // namespace residua::report
