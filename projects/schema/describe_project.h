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
inline constexpr std::size_t kMostOf<Tower> = 15;
template <>
inline constexpr std::size_t kDescribedElsewhere<Tower> = 1;
template <>
struct Fields<Tower> {
    static constexpr void visit(auto&& v)
    {
        NetworkLines<Tower>::visit(v);
        v(
            {"topology", "topology", "How depth is wired."},
            [](auto&& tower) -> auto& { return tower.network.stack().topology; });
        v(
            {"schedule", "schedule", "Which layers train when."},
            [](auto&& tower) -> auto& { return tower.network.stack().schedule; });
    }
};
template <>
inline constexpr bool kInline<Loss> = true;
template <>
inline constexpr std::size_t kMostOf<Loss> = 64;
template <>
struct Choices<LossKind> {
    static constexpr Choice all[] = {
        {"soft_targets", "soft targets"},   {"squared_error", "squared error"},
        {"cross_entropy", "cross-entropy"}, {"expected_exit", "expected cross-entropy over exits"},
        {"contrastive", "contrastive"},     {"mean", "mean of the output"}};
};
template <>
struct Fields<Loss> {
    static bool hasTemperature(const Loss& loss) { return loss.kind == LossKind::SoftTargets; }
    static bool hasEntropy(const Loss& loss) { return loss.kind == LossKind::ExpectedExit; }
    static bool comparesTarget(const Loss& loss) { return hasTarget(loss.kind); }
    static bool hasPenalty(const Loss& loss) { return loss.kind == LossKind::Contrastive; }

    static constexpr void visit(auto&& v)
    {
        v({"name", "name", "What its values are recorded as.", {.need = Need::Required}}, &Loss::name);
        v({"kind", "kind", "How output and target are compared."}, &Loss::kind);
        v({"output", "output", "A value of a tower: its states or its output, also after a layer (network.output@3)."},
          &Loss::output);
        v({"target",
           "target",
           "A value of a tower, which only a contrastive loss trains; empty: the examples' target.",
           {.where = when<comparesTarget>}},
          &Loss::target);
        v({"weight", "weight", "Factor of the loss.", {.range = Range::atLeast(0)}}, &Loss::weight);
        v({"temperature",
           "temperature",
           "Divides the logits of output and target.",
           {.range = Range::moreThan(0), .where = when<hasTemperature>}},
          &Loss::temperature);
        v({"entropy",
           "entropy's factor",
           "Factor of the entropy of the exits, which is subtracted.",
           {.range = Range::atLeast(0),
            .paper = "0.1, later 0.05 (Ouro)",
            .inFiles = InFiles::IfSet,
            .where = when<hasEntropy>}},
          &Loss::entropy);
        v({"penalty",
           "penalty",
           "Factor of the mean square of the log-sum-exp over the batch.",
           {.range = Range::atLeast(0), .inFiles = InFiles::IfSet, .where = when<hasPenalty>}},
          &Loss::penalty);
        v({"trains", "trained towers", "The towers that it trains; none named: all that are not frozen."},
          &Loss::trains);
    }
};
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
        v({"towers",
           "towers",
           "Further networks, which read each other's values.",
           {.item = "tower", .inFiles = InFiles::IfSet}},
          &Project::towers);
        v({"losses",
           "losses",
           "Losses beside the objectives of the towers.",
           {.item = "loss", .inFiles = InFiles::IfSet}},
          &Project::losses);
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
inline constexpr std::size_t kMostOf<TowerLayout> = kMostOf<Tower>;
template <>
struct Fields<TowerLayout> {
    static constexpr void visit(auto&& v)
    {
        v({"positions", "positions", "Where nodes stand, by graph and node."}, &TowerLayout::positions);
        v({"groups", "groups", "Runs of layers under a name.", {.item = "group"}}, &TowerLayout::groups);
    }
};
template <>
struct Fields<Layout> {
    static constexpr void visit(auto&& v)
    {
        v({"positions", "positions", "Where nodes stand, by graph and node."}, &Layout::positions);
        v({"groups", "groups", "Runs of layers under a name.", {.item = "group"}}, &Layout::groups);
        v({"towers", "towers", "The layouts of further towers.", {.item = "tower", .inFiles = InFiles::IfSet}},
          &Layout::towers);
    }
};

} // namespace residua::projects
