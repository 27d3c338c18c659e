// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/depth/weight_scale.h"

#include <string>
#include <vector>

namespace residua::report {

enum class ColouredBy { Numbers, ChangeSinceFirst };

/// A matrix over its recorded steps: a grid of coloured cells with their numbers and, with more than one frame,
/// a slider that goes through them. `frames` are of one shape, ascending, and all coloured by `scale`: by their
/// numbers, or by how far each is from the first frame's. Without scripts the last frame stands.
[[nodiscard]] std::string htmlHeatmap(const std::string& title, const std::vector<engine::Matrix>& frames,
                                      const projects::WeightScale& scale, ColouredBy by = ColouredBy::Numbers);

} // namespace residua::report
