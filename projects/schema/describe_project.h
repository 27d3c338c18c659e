// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"
#include "projects/schema/describe_data.h"
#include "projects/schema/describe_network.h"
#include "projects/schema/describe_sweep.h"
#include "projects/schema/describe_topology.h"
#include "projects/schema/describe_training.h"

namespace residua::projects {

template <>
struct Fields<Project> {
    static constexpr void visit(auto&& v)
    {
        v("name", &Project::name);
        v("description", &Project::description);
        v("data", &Project::data);
        v("network", &Project::network);
        v("topology", &Project::topology);
        v("initialisation", &Project::initialisation);
        v("training", &Project::training);
        v("schedule", &Project::stages);
        v("seeds", &Project::seeds);
        v("sweeps", &Project::sweeps);
    }
};
template <>
inline constexpr bool kInline<LayerGroup> = true;
template <>
inline constexpr std::size_t kMostOf<LayerGroup> = 1024;
template <>
struct Fields<LayerGroup> {
    static constexpr void visit(auto&& v)
    {
        v({"name", "", Need::Required}, &LayerGroup::name);
        v({"first", "", Need::Required}, &LayerGroup::first);
        v({"last", "", Need::Required}, &LayerGroup::last);
    }
};
template <>
struct Fields<Layout> {
    static constexpr void visit(auto&& v)
    {
        v("positions", &Layout::positions);
        v("groups", &Layout::groups);
    }
};

} // namespace residua::projects
