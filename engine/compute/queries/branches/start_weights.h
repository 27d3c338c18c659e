// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/files/tensor_files.h"
#include "engine/compute/init/named_parameter.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// The parameters of a new topology that need other values than their start, by name, in double.
using TopologyWeights = std::map<std::string, at::Tensor>;

/// Returns the weights with which `after`, the project `before` under another topology, computes the function that
/// `before` has learned (projects/depth/unrolled_depth.h). The error gives the reason if no weights do: a part of the
/// run's wiring depends on the input, or the new wiring cannot express a sum.
[[nodiscard]] Result<TopologyWeights> weightsThatKeep(const projects::Project& before, const TensorFiles& learned,
                                                      const projects::Project& after);

/// Writes the numbers that `project` freezes coefficients at into the network's parameters, whatever they were made
/// from. Engine thread.
void holdNumbers(const projects::Project& project, std::vector<NamedParameter>& parameters);

} // namespace residua::engine
