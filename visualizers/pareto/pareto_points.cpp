// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/pareto/pareto_points.h"

#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {
namespace {

using Kind = ParetoPoint::Kind;

Kind kindOf(const ParetoRun& run, const ParetoAxes& axes)
{
    return run.standing != ParetoStanding::Result ? Kind::SoFar : axes.isApart(run) ? Kind::Apart : Kind::Result;
}

} // namespace

std::vector<ParetoPoint> paretoPoints(const std::vector<ParetoRun>& runs, const ShownRuns& shown,
                                      const ParetoAxes& axes)
{
    std::vector<ParetoPoint> points;
    std::vector<std::string> groups; // of each point; empty for a single run
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string key = runs[i].key.toStdString();
        if (!std::isfinite(axes.loss(runs[i])) || !(axes.cost(runs[i]) > 0) || shown.isLeftOut(key)) {
            continue;
        }
        const ShownRuns::Look* look = shown.lookOf(key);
        const Kind kind = kindOf(runs[i], axes);
        const std::string group = look && kind == Kind::Result ? look->group : std::string();
        const auto known = group.empty() ? groups.end() : std::ranges::find(groups, group);
        if (known != groups.end()) {
            points[static_cast<std::size_t>(known - groups.begin())].runs.push_back(i);
            continue;
        }
        groups.push_back(group);
        points.push_back({.kind = kind,
                          .runs = {i},
                          .name = look ? look->label : runs[i].name,
                          .colour = look ? std::optional(look->colour) : std::nullopt,
                          .loss = {}});
    }
    for (ParetoPoint& point : points) {
        std::vector<double> losses;
        for (const std::size_t run : point.runs) {
            losses.push_back(axes.loss(runs[run]));
            point.cost += axes.cost(runs[run]) / static_cast<double>(point.runs.size());
        }
        point.loss = projects::meanOf(losses);
        const ShownRuns::Look* look = shown.lookOf(runs[point.runs.front()].key.toStdString());
        point.name = point.runs.size() > 1 && look ? look->groupLabel : point.name;
    }
    return points;
}

std::vector<std::size_t> frontOf(const std::vector<ParetoPoint>& points, const projects::Judge& judge)
{
    std::vector<projects::CostAndValue> values;
    for (const ParetoPoint& point : points) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        values.push_back({point.cost, point.kind == Kind::Result ? point.loss.mean : none});
    }
    return projects::paretoFront(values, judge);
}

} // namespace residua::visualizers
