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
#include <string_view>
#include <vector>

namespace residua::projects {

/// The kinds of devices. The engine computes on them by other functions, which keep other tensors.
enum class DeviceKind { Cpu, Gpu };
/// The kind of the device with the engine's key: "cpu", "cuda:1".
[[nodiscard]] DeviceKind deviceKindOf(std::string_view key);

/// Rows of logits whose loss a GPU computes at once: the loss holds at most 1 GB beside the logits. At least one.
/// `bytes`: of a number in the loss's type.
[[nodiscard]] std::int64_t lossRows(std::int64_t vocabulary, double bytes);

/// What a part of the network costs; each kind's formula stands beside its table entry, the topology's in
/// cost_topology.cpp. FLOP are per token (language) or per sample, multiply and add counted as two, elementwise
/// work as one an operation; causal attention counts T/2 keys per query. `trainFlops` = forward + backward. Where
/// layers are computed again in the backward, that is one more forward, each keeps its output alone, and the total
/// holds the activations of the largest layer once. Only memory depends on the device.
struct Cost {
    std::int64_t parameters = 0;
    double forwardFlops = 0;
    double trainFlops = 0;
    double activationBytes = 0; ///< kept for the backward pass of one micro-batch, with matrices rounded to bf16
    double weightBytes = 0;
    double optimiserBytes = 0; ///< moments and gradients
    double lossBytes = 0;      ///< of the head: what the loss of tokens holds at its peak beside all that is kept

    /// All the memory of a training step at its peak.
    [[nodiscard]] double memoryBytes() const { return activationBytes + weightBytes + optimiserBytes + lossBytes; }
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

[[nodiscard]] CostReport costOf(const SoundProject& project, DeviceKind device = DeviceKind::Cpu);
/// The costs of any document: checks it first. The error is the first of soundProject().
[[nodiscard]] Result<CostReport> costOf(const Project& project, DeviceKind device = DeviceKind::Cpu);

/// What adding `shortcut` would add to the total (the figure beside the pointer while dragging). Errors where the
/// wiring has no such shortcut.
[[nodiscard]] Result<Cost> costOfShortcut(const SoundProject& project, const Shortcut& shortcut);

/// The part of the topology's cost that its readers would save without those of `shortcuts` that they read.
[[nodiscard]] Cost costOfShortcuts(const SoundProject& project, const std::set<Shortcut>& shortcuts);

} // namespace residua::projects
