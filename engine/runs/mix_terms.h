// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/depth/depth_plan.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// The places of mixing weights in recorded matrices. Private to the engine.
namespace residua::engine {

using projects::DepthReader;
using projects::DepthTerm;
using projects::readersOf;
using projects::startOf;
using projects::termsOf;

/// Adds to `result` the matrices "<kind>" (one per port where readers have several) of a value per term; NaN where
/// there is no shortcut.
void addMatrices(std::vector<Matrix>& result, const std::string& kind, const std::vector<DepthReader>& readers,
                 const std::vector<DepthTerm>& terms, std::span<const float> values, std::int64_t step);

} // namespace residua::engine
