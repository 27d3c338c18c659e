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
        v({"name", "name", "The project's name.", {.decides = Decides::Nothing}}, &Project::name);
        v({"description", "description", "One line for people.", {.decides = Decides::Nothing}}, &Project::description);
        v({"data", "data", "Where the examples come from and how they are split."}, &Project::data);
        v({"network", "network", "Stem, stack and head."}, &Project::network);
        v(
            {"topology", "topology", "How depth is wired."},
            [](auto&& project) -> auto& { return project.stack().topology; });
        v({"initialisation", "initialisation", "How weights start."}, &Project::initialisation);
        v({"training", "training", "Steps, optimiser, rate and record."}, &Project::training);
        v(
            {"schedule", "schedule", "Which layers train when."},
            [](auto&& project) -> auto& { return project.stack().schedule; });
        v({"seeds", "seeds", "Every random draw comes from one of them."}, &Project::seeds);
        v({"sweeps",
           "sweeps",
           "Studies of the project; they decide nothing that it trains.",
           {.item = "sweep", .decides = Decides::Nothing}},
          &Project::sweeps);
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
        v({"name", "name", "What the group is called.", {.need = Need::Required}}, &LayerGroup::name);
        v({"first", "first layer", "Where the group begins, from 1.", {.need = Need::Required}}, &LayerGroup::first);
        v({"last", "last layer", "Where the group ends.", {.need = Need::Required}}, &LayerGroup::last);
    }
};
template <>
struct Fields<Layout> {
    static constexpr void visit(auto&& v)
    {
        v({"positions", "positions", "Where nodes stand, by graph and node."}, &Layout::positions);
        v({"groups", "groups", "Runs of layers under a name.", {.item = "group"}}, &Layout::groups);
    }
};

} // namespace residua::projects
