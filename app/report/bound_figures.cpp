// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/loss_figures.h"

#include "app/report/html_text.h"
#include "app/report/svg_plot.h"
#include "engine/data/project_bounds.h"
#include "resources/axis.h"

#include <algorithm>
#include <cmath>

namespace residua::report {
namespace {

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

std::vector<BoundCurve> boundCurves(const projects::Project& project, std::int64_t count)
{
    const std::vector<std::int64_t> steps = stepsOver(project.training.steps, count);
    std::vector<BoundCurve> curves;
    for (const ProjectBound& bound : engine::boundsOf(project, steps)) {
        if (!bound.applies()) {
            continue;
        }
        BoundCurve curve{bound.name, bound.claim, bound.caveat, bound.kind == BoundKind::Below, {}};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            curve.points.push_back({steps[i], bound.losses[i]});
        }
        curves.push_back(std::move(curve));
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
        Curve drawn{bound.kind == BoundKind::Below ? "lower bound" : "upper bound", {}, Stroke::Dashed, 1};
        for (std::size_t i = 0; bound.applies() && i < steps.size(); ++i) {
            drawn.points.push_back({steps[i], bound.losses[i]});
        }
        html += "<figure>" +
                svgPlot({title + " · " + bound.name,
                         "step",
                         "loss",
                         {{"measured", loss, Stroke::Solid, 0}, drawn},
                         AxisScale::Log}) +
                "<p>" +
                escapeHtml(bound.name + ", " + bound.claim + ": " + verdict(bound, loss) +
                           (bound.caveat.empty() ? "" : ". " + bound.caveat)) +
                "</p></figure>";
    }
    return html;
}

} // namespace residua::report
