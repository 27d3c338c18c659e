// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/pass.h"
#include "projects/model/objective.h"

#include <ATen/core/Tensor.h>

namespace residua::engine {

/// How one projects::Objective is computed; that type has the formulas.
struct ObjectiveEntry {
    projects::Objective objective = projects::Objective::NextToken;
    /// The loss of the head's output against the target, which has the output's first dimensions and the element of the
    /// objective's traits: a scalar in at least single precision, the mean that the traits name. What it reads beside
    /// them is among the pass's inputs. It may overwrite an output that its caller moves here.
    at::Tensor (*loss)(at::Tensor output, const at::Tensor& target, const Pass& pass) = nullptr;
};

/// The entry of the table that is for `objective`.
[[nodiscard]] const ObjectiveEntry& entryOf(projects::Objective objective);

} // namespace residua::engine
