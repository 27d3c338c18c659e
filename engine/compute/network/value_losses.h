// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/graph/pass.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace residua::engine {

/// Returns the further loss of an output against a target, a scalar in at least single precision; LossKind has the
/// formulas. Returns the cross-entropy for ExpectedExit. In a contrastive loss, two vectors that coincide pass no
/// gradient to each other. LossKind::Mean reads no target.
[[nodiscard]] at::Tensor valueLoss(const projects::Loss& loss, const at::Tensor& output, const at::Tensor& target);
/// Returns the further loss of values that the pass has as inputs, by valueLoss(). `target` is the batch's. If rows
/// have padding, a loss between values [batch, time, d] is a mean over the tokens with a target; 0 if there are none.
[[nodiscard]] at::Tensor valueLossOf(const projects::Loss& loss, const at::Tensor& target, const Pass& pass);
/// True if the further loss is a mean over the targets of the batch that are not ignored, as the objective is.
[[nodiscard]] bool isOverTargets(const projects::Loss& loss, const at::Tensor& target, const Pass& pass);

/// The losses of the visits of a loop with an exit gate, with the probability of each to be the last one.
struct ExitLosses {
    at::Tensor losses;    ///< cross-entropy of the targets [targets, visits], 0 for ignored ones
    at::Tensor logShares; ///< ln p [targets, visits]
    at::Tensor counts;    ///< 1 for a target, 0 for an ignored one [targets]

    /// Returns the mean over the targets of values [targets]; 0 if all are ignored.
    [[nodiscard]] at::Tensor meanOf(const at::Tensor& values) const;
    /// Returns LossKind::ExpectedExit.
    [[nodiscard]] at::Tensor expected(double entropyFactor) const;
};
/// `outputs` has the outputs of all visits in order, [..., classes] each; `logShares` is [..., visits] and `target`
/// [...].
[[nodiscard]] ExitLosses exitLosses(const std::vector<at::Tensor>& outputs, const at::Tensor& logShares,
                                    const at::Tensor& target);

} // namespace residua::engine
