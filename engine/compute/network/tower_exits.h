// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "engine/compute/network/tower.h"
#include "engine/compute/network/value_losses.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace residua::engine {

// The values of a tower at its exits, which are inputs of a pass by their names (projects::ValueName).

/// Returns the values at the exits from the residual at each (CompiledTower::states): states and outputs by their
/// names, and the exit gate's ln p for logExitShares().
[[nodiscard]] std::map<std::string, at::Tensor> exitValues(CompiledTower& tower, const std::vector<at::Tensor>& exits,
                                                           const Pass& pass);
/// Adds the tower's output after all visits, if it has an exit gate, for exitLossesOf().
void keepLastOutput(const CompiledTower& tower, const at::Tensor& output, Pass& pass);

/// True if the output for a token is that of the visit at which it leaves (Pass::exitAt).
[[nodiscard]] bool exitsEarly(const CompiledTower& tower, const Pass& pass);
/// Returns the output of each token's visit; `last` is the tower's output.
[[nodiscard]] at::Tensor outputAtExit(const CompiledTower& tower, const at::Tensor& last, const Pass& pass);

/// Returns the losses of the visits that LossKind::ExpectedExit weighs, of a pass that has their values.
[[nodiscard]] ExitLosses exitLossesOf(const CompiledTower& tower, const at::Tensor& target, const Pass& pass);
/// Returns the loss by its name, such as "exits", the cross-entropy after each visit, "exits@2", and with
/// `countsVisits` "visits": the mean over the targets of Σ v·p_v, or with Pass::exitAt of the visits at which they
/// leave.
[[nodiscard]] std::vector<BatchMean> exitMeans(const CompiledTower& tower, const projects::Loss& loss,
                                               const at::Tensor& target, const Pass& pass, bool countsVisits);
/// Returns the names of exitMeans() but that of the loss.
[[nodiscard]] std::set<std::string> exitMeanNames(const CompiledTower& tower, const projects::Loss& loss);

} // namespace residua::engine
