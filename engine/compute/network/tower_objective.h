// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Private to network.cpp: what follows from the outputs of a tower.

#include "engine/compute/network/network.h"
#include "engine/compute/network/tower.h"

#include <ATen/core/Tensor.h>

#include <set>
#include <string>
#include <vector>

namespace residua::engine {

// The objective of a tower on a batch. `outputs` are those of CompiledTower::outputs(), and the pass has the labels.

/// Returns the objective of the output, which may be overwritten, then the cross-entropy of each further label. All
/// have the name `name`.
[[nodiscard]] std::vector<BatchMean> objectiveMeans(const CompiledTower& tower, std::vector<at::Tensor> outputs,
                                                    const DeviceBatch& batch, const Pass& pass,
                                                    const std::string& name);
/// Adds the objective's further quantities, and the accuracy of each further label.
void addObjectiveQuantities(const CompiledTower& tower, const std::vector<at::Tensor>& outputs,
                            const DeviceBatch& batch, const Pass& pass, BatchQuantities& quantities);
/// Returns the names of addObjectiveQuantities().
[[nodiscard]] std::set<std::string> objectiveQuantityNames(const CompiledTower& tower);

} // namespace residua::engine
