// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas.h"
#include "editor/depth_scene.h"
#include "editor/viewport.h"
#include "resources/colours.h"

#include <imgui.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace residua::editor {

/// Mixing weights as the canvas colours them. Without a centre they are magnitudes from 0 to `high`;
/// with one they are signed about it and run from `low` to `high`.
struct WeightScale {
    std::optional<double> centre;
    double low = 0;
    double high = 1;

    /// How strongly a weight stands out, in [0, 1].
    [[nodiscard]] double strength(double weight) const;
    [[nodiscard]] resources::Rgb colour(double weight, resources::Theme theme) const;
};

/// The live weights that are drawn: copied, so that the engine's buffer may go.
struct DrawnWeights {
    std::vector<float> mix; ///< row-major [target − 1, source], NaN: none
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::uint8_t> active;
    std::int64_t step = 0;
    WeightScale scale;

    [[nodiscard]] std::optional<float> of(const projects::Shortcut& shortcut) const;
    [[nodiscard]] bool isActive(std::int64_t layer) const;
};

/// Everything that the drawing of one frame reads.
struct DepthPicture {
    const DepthScene& scene;
    const Viewport& view;
    const Selection& selection;
    const DrawnWeights& weights;
    std::optional<projects::Shortcut> hoveredShortcut;
    std::optional<std::int64_t> hoveredLayer;
    resources::Theme theme = resources::Theme::Light;
    float width = 0;
    float height = 0;
};

/// A shortcut that is being drawn, and what stands beside the pointer.
struct DragPreview {
    std::int64_t source = 0;
    std::optional<std::int64_t> target; ///< the layer under the pointer
    Point pointer;                      ///< on the screen
    std::vector<std::string> lines;
    bool valid = false;
};

[[nodiscard]] ImU32 imColour(resources::Rgb rgb, double alpha = 1.0);

void paintDepth(ImDrawList& list, const DepthPicture& picture);
void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag);
void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea);

} // namespace residua::editor
