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
/// Returns CompiledTower::logExitShares() of a pass that has the values.
[[nodiscard]] at::Tensor logExitShares(const CompiledTower& tower, const Pass& pass);

/// True if the output for a token is that of the visit at which it leaves (Pass::exitAt).
[[nodiscard]] bool exitsEarly(const CompiledTower& tower, const Pass& pass);
/// Returns the outputs of all visits of the loop with an exit gate; `last` is the tower's output.
[[nodiscard]] std::vector<at::Tensor> outputsOfVisits(const CompiledTower& tower, const at::Tensor& last,
                                                      const Pass& pass);
/// Returns the index, from 0, of the visit at which each token leaves, [...].
[[nodiscard]] at::Tensor exitVisits(const CompiledTower& tower, const Pass& pass);
/// Returns the output of each token's visit; `last` is the tower's output.
[[nodiscard]] at::Tensor outputAtExit(const CompiledTower& tower, const at::Tensor& last, const Pass& pass);

/// Returns the losses of the visits that LossKind::ExpectedExit weighs, of a pass that has their values.
[[nodiscard]] ExitLosses exitLossesOf(const CompiledTower& tower, const at::Tensor& target, const Pass& pass);
/// Returns the cross-entropy after each visit, "exits@2" for a loss with the name "exits", and with `countsVisits`
/// "visits": the mean over the targets of Σ v·p_v, or with Pass::exitAt of the visits at which they leave.
[[nodiscard]] std::vector<BatchMean> exitMeans(const CompiledTower& tower, const projects::Loss& loss,
                                               const at::Tensor& target, const Pass& pass, bool countsVisits);
/// Returns the names of exitMeans().
[[nodiscard]] std::set<std::string> exitMeanNames(const CompiledTower& tower, const projects::Loss& loss);

} // namespace residua::engine
