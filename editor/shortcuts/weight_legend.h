// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/shortcuts/live_weights.h"
#include "resources/colours.h"

#include <imgui.h>

#include <string>

namespace residua::editor {

inline constexpr float kLegendRoom = 72; ///< pixels that the legend takes above the bottom edge, its margin included

/// What the colours of shortcuts tell: their weights, or to which port they belong.
enum class Colours { Weights, Ports };

/// What the live numbers are: weights, shares of a row, spreads or the weights of one feature.
[[nodiscard]] std::string nameOfValue(const LiveWeights& weights, LiveMeasure measure = LiveMeasure::Mean);

/// The colour bar of the weights, bottom left; nothing while there are no live weights. Where colours tell ports apart,
/// words that say so.
void paintLegend(ImDrawList& list, const LiveWeights& weights, resources::Theme theme, float height,
                 LiveMeasure measure = LiveMeasure::Mean, Colours colours = Colours::Weights);

} // namespace residua::editor
