// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace residua::projects {

/// What a part of the network costs; each kind's formula stands beside its table entry, the topology's in
/// cost_topology.cpp. FLOP are per token (language) or per sample, multiply and add counted as two, elementwise
/// work as one an operation; causal attention counts T/2 keys per query. `trainFlops` = forward + backward. Where
/// layers are computed again in the backward, that is one more forward, each keeps its output alone, and the total
/// holds the activations of the largest layer once.
struct Cost {
    std::int64_t parameters = 0;
    double forwardFlops = 0;
    double trainFlops = 0;
    double activationBytes = 0; ///< kept for the backward pass, one micro-batch
    double weightBytes = 0;
    double optimiserBytes = 0; ///< moments and gradients

    Cost& operator+=(const Cost& other);
    bool operator==(const Cost&) const = default;
};

/// Cost by part, and in all.
struct CostReport {
    Cost total;
    Cost stem;
    Cost head;
    Cost topology;                                    ///< mixing weights, gates and the stack entries that are kept
    std::vector<Cost> layers;                         ///< [0] is layer 1; the topology's share is not in it
    std::map<GraphRef, std::map<NodeId, Cost>> nodes; ///< of one instance of each graph
};

[[nodiscard]] CostReport costOf(const SoundProject& project);
/// The costs of any document: checks it first. The error is the first of soundProject().
[[nodiscard]] Result<CostReport> costOf(const Project& project);

/// What adding `shortcut` would add to the total (the figure beside the pointer while dragging). Errors where the
/// wiring has no such shortcut.
[[nodiscard]] Result<Cost> costOfShortcut(const SoundProject& project, const Shortcut& shortcut);

/// The part of the topology's cost that its readers would save without those of `shortcuts` that they read.
[[nodiscard]] Cost costOfShortcuts(const SoundProject& project, const std::set<Shortcut>& shortcuts);

} // namespace residua::projects
