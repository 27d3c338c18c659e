// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/pass.h"
#include "projects/model/objective.h"

#include <ATen/core/Tensor.h>

#include <span>

namespace residua::engine {

class DiffusionLoss;

/// A quantity of an output beside its loss. It is recorded wherever the network is evaluated, under its name and that
/// of the split: "accuracy/validation".
struct ObjectiveQuantity {
    const char* name = nullptr; ///< without '/'
    /// Returns the mean over the units of the batch, a scalar on the device; undefined if the network has too few
    /// outputs for the quantity to say anything.
    at::Tensor (*mean)(const at::Tensor& output, const at::Tensor& target) = nullptr;
};

/// The inputs of an objective beside the output and the pass.
struct LossInputs {
    const at::Tensor& target;
    const at::Tensor& input; ///< of the batch
    double smoothing = 0;    ///< the share of a label's target that is spread over all classes, if the traits have it
    DiffusionLoss* diffusion = nullptr; ///< if the traits diffuse
};

/// The computation of a projects::Objective; that type has the formulas.
struct ObjectiveEntry {
    projects::Objective objective = projects::Objective::NextToken;
    /// Returns the loss of the head's output against the target, which has the output's leading dimensions and the
    /// element type of the objective's traits. The result is the mean that the traits name, a scalar in at least single
    /// precision. Further inputs come from the pass. May overwrite an output that its caller moves here.
    at::Tensor (*loss)(at::Tensor output, const LossInputs& of, const Pass& pass) = nullptr;
    std::span<const ObjectiveQuantity> further = {};
    /// Returns the number of targets that the loss and the further quantities are means over, a scalar on the device.
    /// Null, or an undefined result: every unit of the batch.
    at::Tensor (*count)(const at::Tensor& target, const Pass& pass) = nullptr;
    /// Returns BatchQuantities::confusion, [classes, classes]; undefined if the classes are more than
    /// matrix::kMostConfusedClasses. Null if the target is not a label.
    at::Tensor (*confusion)(const at::Tensor& output, const at::Tensor& target) = nullptr;
};

/// Returns the table's entry for `objective`.
[[nodiscard]] const ObjectiveEntry& objectiveEntryOf(projects::Objective objective);

} // namespace residua::engine
