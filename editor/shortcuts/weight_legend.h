// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/weight_words.h"
#include "resources/colours.h"

#include <imgui.h>

namespace residua::editor {

inline constexpr float kLegendRoom = 72;     ///< height of the legend with its margin, in pixels
inline constexpr float kRightOfLegend = 184; ///< where further text beside it begins

/// The meaning of the colours of shortcuts.
enum class Colours { Weights, Ports };

/// Paints the colour bar of the weights, bottom left, or the reason for their absence. If colours identify ports,
/// paints words instead that say so.
void paintLegend(ImDrawList& list, const LiveWeights& weights, resources::Theme theme, float height,
                 LiveMeasure measure = LiveMeasure::Mean, Colours colours = Colours::Weights);

} // namespace residua::editor
