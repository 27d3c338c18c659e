// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/graph.h"
#include "projects/model/places.h"
#include "projects/model/project.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The kinds of devices. The engine uses different functions on them, which keep different tensors.
enum class DeviceKind { Cpu, Gpu };
/// Returns the kind of the device with the engine's key: "cpu", "cuda:1".
[[nodiscard]] DeviceKind deviceKindOf(std::string_view key);

/// Returns the rows of logits whose loss a GPU computes at once, at least 1. The loss then holds at most 1 GB beside
/// the logits. `bytes` is the size of a number in the loss's type.
[[nodiscard]] std::int64_t lossRows(std::int64_t vocabulary, double bytes);

/// The cost of a part of the network. The formula of each kind is beside its table entry; cost_topology.cpp has those
/// of the topology. FLOP are per token (language) or per sample. A multiply-add counts as two, and elementwise work as
/// one per operation. Causal attention counts T/2 keys per query. `trainFlops` = forward + backward. If layers are
/// recomputed in the backward pass, it includes a second forward pass, each layer keeps only its output, and the total
/// includes the activations of the largest layer once. Only memory depends on the device.
struct Cost {
    std::int64_t parameters = 0;
    double forwardFlops = 0;
    double trainFlops = 0;
    double activationBytes = 0; ///< kept for the backward pass of one micro-batch
    double weightBytes = 0;     ///< including the rounded copies of bf16
    double optimiserBytes = 0;  ///< states and gradients
    double lossBytes = 0;       ///< for the head: the peak of the loss of tokens, in addition to everything kept
    double gradientsSent = 0;   ///< bytes: gradients, running moments, and values if the states are divided
    double momentsSent = 0;     ///< bytes: what batch norms with moments of the whole batch sum

    /// Returns the peak memory of a training step.
    [[nodiscard]] double memoryBytes() const { return activationBytes + weightBytes + optimiserBytes + lossBytes; }
    /// Returns the bytes that a rank sends in a training step.
    [[nodiscard]] double sentBytes() const { return gradientsSent + momentsSent; }
    Cost& operator+=(const Cost& other);
    bool operator==(const Cost&) const = default;
};

/// The costs of the parts of the first tower, and the total over all towers.
struct CostReport {
    Cost total;
    std::map<std::string, Cost> towers; ///< by name, of those that losses need; empty for a document with one
    Cost stem;
    Cost head;
    Cost topology;                                    ///< mixing weights, gates and kept stack entries
    std::vector<Cost> layers;                         ///< [0] is layer 1; without the topology's share
    std::map<GraphRef, std::map<NodeId, Cost>> nodes; ///< of one instance of each graph
};

/// Memory is that of one of `ranks` processes, which divide the batch and, if the plan says so, the optimiser's states.
/// The bytes sent are those of sums in a ring, in a step that trains all layers. They are 0 for one process.
[[nodiscard]] CostReport costOf(const SoundProject& project, DeviceKind device = DeviceKind::Cpu,
                                std::int64_t ranks = 1);
/// Checks any document and returns its costs, or the first error of soundProject().
[[nodiscard]] Result<CostReport> costOf(const Project& project, DeviceKind device = DeviceKind::Cpu,
                                        std::int64_t ranks = 1);

/// Returns the increase of the total if `shortcut` is added, which is shown beside the pointer during a drag. Returns
/// an error if the wiring cannot have such a shortcut.
[[nodiscard]] Result<Cost> costOfShortcut(const SoundProject& project, const Shortcut& shortcut);

/// Returns the part of the topology's cost that its readers would save without `shortcuts`.
[[nodiscard]] Cost costOfShortcuts(const SoundProject& project, const std::set<Shortcut>& shortcuts);

} // namespace residua::projects
