// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/sweep_grid.h"

#include "projects/base/text.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

std::vector<Sweep> withSweep(std::vector<Sweep> sweeps, const std::string& name, Sweep sweep)
{
    const auto found = std::ranges::find(sweeps, name, &Sweep::name);
    if (found == sweeps.end()) {
        sweeps.push_back(std::move(sweep));
    } else {
        *found = std::move(sweep);
    }
    return sweeps;
}

std::vector<Sweep> withNewSweep(std::vector<Sweep> sweeps, std::vector<SweepAxis> axes)
{
    const auto isTaken = [&](const std::string& name) { return findSweep(sweeps, name) != nullptr; };
    std::string name = freeName("sweep", isTaken, " ");
    sweeps.push_back({std::move(name), std::move(axes)});
    return sweeps;
}

std::vector<Sweep> withoutSweep(std::vector<Sweep> sweeps, const std::string& name)
{
    std::erase_if(sweeps, [&](const Sweep& sweep) { return sweep.name == name; });
    return sweeps;
}

std::optional<Sweep> withAxis(Sweep sweep, const SweepAxis& axis)
{
    const auto same = std::ranges::find(sweep.axes, axis.field, &SweepAxis::field);
    if (same != sweep.axes.end()) {
        *same = axis;
    } else if (sweep.axes.size() < kMaxSweepAxes) {
        sweep.axes.push_back(axis);
    } else {
        return std::nullopt;
    }
    return sweep;
}

} // namespace residua::projects
