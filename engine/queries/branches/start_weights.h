// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/files/tensor_files.h"
#include "projects/base/result.h"
#include "projects/model/project.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace residua::engine {

/// The parameters of a new topology that cannot stay as they start, by name, in double.
using TopologyWeights = std::map<std::string, at::Tensor>;

/// The weights with which `after`, which is `before` under another topology, computes what `before` computes with the
/// parameters that it has learned (projects/depth/unrolled_depth.h). An error says why no weights do: what in the run's
/// own wiring depends on the input, or which sum the new one cannot make.
[[nodiscard]] Result<TopologyWeights> weightsThatKeep(const projects::Project& before, const TensorFiles& learned,
                                                      const projects::Project& after);

} // namespace residua::engine
