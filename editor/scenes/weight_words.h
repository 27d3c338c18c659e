// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/live_weights.h"
#include "projects/model/project.h"
#include "projects/model/topology.h"

#include <string>

namespace residua::editor {

/// Returns the name of the live numbers: weights, shares of a row, effects, spreads or the weights of one feature.
[[nodiscard]] std::string nameOfValue(const LiveWeights& weights, LiveMeasure measure = LiveMeasure::Mean);

/// Formats one of these numbers, with the same digits as in heatmap and outline.
[[nodiscard]] std::string textOfValue(const LiveWeights& weights, double value,
                                      LiveMeasure measure = LiveMeasure::Mean);

/// Returns what is known of the effect of a shortcut: "loss +0.012 ± 0.003 without it (step 200)". Empty if nothing is.
[[nodiscard]] std::string effectText(const LiveWeights& weights, const projects::Shortcut& shortcut);

/// Returns "3:7", followed by the names of the modules if these differ from the numbers: "3:7  (2a to 4a)".
[[nodiscard]] std::string titleOf(const projects::Project& project, const projects::Shortcut& shortcut);

/// Returns the words for a frozen shortcut: "frozen", "frozen at 0.25", "frozen at what a run learned".
[[nodiscard]] std::string frozenText(const projects::Project& project, const projects::Shortcut& shortcut);

} // namespace residua::editor
