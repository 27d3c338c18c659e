// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/depth/depth_plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The cells of mixing weights in recorded matrices.
namespace residua::engine {

/// Adds to `result` the matrices of `kind` (one per port if layers have several) from one value per term of the plan;
/// NaN where there is no shortcut.
void addMatrices(std::vector<Matrix>& result, const std::string& kind, const projects::DepthPlan& plan,
                 std::span<const float> values, std::int64_t step);

} // namespace residua::engine
