// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/data_source.h"
#include "projects/model/graph.h"
#include "projects/model/graph_ref.h"
#include "projects/model/sweep.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// The schema that this program writes. Older files are migrated on load (json.h).
inline constexpr int kSchemaVersion = 6;

/// A tower beside the first one. It has blocks of its own.
struct Tower {
    Network network;
    bool operator==(const Tower&) const = default;
};

/// The comparison of an output with its target by a further loss.
enum class LossKind {
    SoftTargets, ///< T²·KL(softmax(target/T) ‖ softmax(output/T)), mean over all dimensions but the last (Hinton et
                 ///< al.)
    SquaredError, ///< mean over all numbers of (output − target)²
    CrossEntropy, ///< mean over the targets of −ln p, the target a field of tokens or labels
    /// Σ_v p_v·CE_v − β·H(p), mean over the targets: CE_v is the cross-entropy after visit v of the loop with an exit
    /// gate, p_v = λ_v·Π_{u<v}(1 − λ_u) the probability that v is the last visit, λ_v the gate's (Loop::exitGate) and 1
    /// for the last visit, H the entropy (Ouro).
    ExpectedExit,
    /// Mean over the examples i of l_i − f_ii + penalty · l_i², with f_ij = −‖output_i − target_j‖₂ and l_i = ln Σ_j
    /// exp f_ij over the examples j of the batch: InfoNCE in one direction, as contrastive reinforcement learning has
    /// it. Output and target are [batch, n].
    Contrastive,
    Mean, ///< mean of the output's numbers, without a target
};
/// True if a loss of the kind trains the towers of its target too.
[[nodiscard]] constexpr bool trainsTarget(LossKind kind)
{
    return kind == LossKind::Contrastive;
}
/// True if a loss of the kind compares its output with a target.
[[nodiscard]] constexpr bool hasTarget(LossKind kind)
{
    return kind != LossKind::Mean;
}

/// A further loss of the training: it compares a tower's value with another one, or with a field of the examples. The
/// towers' own objectives are losses too (Network::ownLoss).
struct Loss {
    std::string name; ///< recorded as "<name>/validation"; unique
    LossKind kind = LossKind::SoftTargets;
    std::string output = "network.output"; ///< a value: "<tower>.output" or "<tower>.states", also at exits (towers.h)
    std::string target; ///< a value, without a gradient unless trainsTarget(); empty: the data's target
    double weight = 1;
    double temperature = 1;          ///< T > 0 of SoftTargets
    double entropy = 0.1;            ///< β ≥ 0 of ExpectedExit
    double penalty = 0.1;            ///< ≥ 0, of Contrastive
    std::vector<std::string> trains; ///< the towers that it trains; empty: all that are not frozen

    bool operator==(const Loss&) const = default;
};

/// The document: everything that determines what is trained, and the sweeps, as plain comparable values. All views read
/// it; only edits (edit.h) change it.
struct Project {
    std::string name = "Untitled";
    std::string description;
    DataSource data;
    Network network;           ///< the first tower
    std::vector<Tower> towers; ///< the others; they run in the order in which they read each other
    std::vector<Loss> losses;  ///< beside the towers' objectives
    Initialisation initialisation;
    TrainingPlan training;
    Seeds seeds;
    std::vector<Sweep> sweeps; ///< do not affect the training of this document

    [[nodiscard]] Stack& stack() { return network.stack(); }
    [[nodiscard]] const Stack& stack() const { return network.stack(); }

    bool operator==(const Project&) const = default;
};

/// Returns the precision under bf16 of the values that the wiring passes from layer to layer: the document's, but fp32
/// for attention over depth (WeightTraits::attends), and by EntryPrecision for layers that read mixes of branches.
[[nodiscard]] ResidualPrecision carriedPrecision(const Project& project);

/// Position on a canvas, in canvas units.
struct Position {
    double x = 0;
    double y = 0;
    bool operator==(const Position&) const = default;
};

/// A named range of layers, shown as a bracket on the depth canvas. Layers first..last, counted from 1.
struct LayerGroup {
    std::string name;
    std::int64_t first = 1;
    std::int64_t last = 1;
    bool operator==(const LayerGroup&) const = default;
};

/// The layout of a tower beside the first one, as of Layout.
struct TowerLayout {
    std::map<GraphRef, std::map<NodeId, Position>> positions;
    std::vector<LayerGroup> groups;
    bool operator==(const TowerLayout&) const = default;
};

/// The visual layout of the network. It never affects the meaning.
struct Layout {
    std::map<GraphRef, std::map<NodeId, Position>> positions; ///< positions of nodes, by graph and node
    std::vector<LayerGroup> groups;
    std::vector<TowerLayout> towers; ///< of Project::towers; those without an entry have none
    bool operator==(const Layout&) const = default;
};

} // namespace residua::projects
