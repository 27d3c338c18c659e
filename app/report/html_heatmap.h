// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "projects/depth/weight_scale.h"

#include <string>
#include <vector>

namespace residua::report {

enum class ColouredBy { Numbers, ChangeSinceFirst };

/// Returns a matrix over its recorded steps: a grid of coloured cells with their numbers and, for several frames, a
/// slider. `frames` have one shape, are ascending, and are coloured by `scale`: by their numbers, or by their distance
/// from the first frame. Rows are targets and columns are sources, or both are the classes of a confusion matrix, with
/// these names. Without scripts the last frame is shown.
[[nodiscard]] std::string htmlHeatmap(const std::string& title, const std::vector<engine::Matrix>& frames,
                                      const projects::WeightScale& scale, ColouredBy by = ColouredBy::Numbers,
                                      const std::vector<std::string>& classes = {});

} // namespace residua::report
