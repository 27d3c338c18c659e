// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from canvas_widget.h, because the sides panel shows weights without a canvas.

#include "editor/scenes/live_weights.h"
#include "visualizers/heatmap/heatmap_frames.h"

#include <vector>

namespace residua::visualizers {
class ShownMatrices;
} // namespace residua::visualizers

namespace residua::app {

/// Copies frames of `matrices` to the weights that canvases and outline show.
void takeFrames(const visualizers::ShownMatrices& matrices,
                const std::vector<visualizers::HeatmapFrames::Shown>& frames, editor::LiveWeights& live);

} // namespace residua::app
