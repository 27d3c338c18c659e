// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from block_scene.h, because figures and the canvas place labels at their own zoom.

#include "editor/scenes/block_scene.h"
#include "editor/scenes/viewport.h"

#include <optional>
#include <vector>

namespace residua::editor {

/// The places of texts outside of nodes, on the screen. They cover no other text, no node, and rarely a wire.
class BlockLabels {
public:
    BlockLabels(const BlockScene& scene, const Viewport& view);

    enum class Wires { Spare, Avoid };
    /// Returns the first of `places` that is free, also of wires. With Wires::Spare, falls back to the first place that
    /// is free except for wires.
    std::optional<Rect> claim(const std::vector<Rect>& places, Wires wires = Wires::Spare);

private:
    std::vector<Rect> m_taken;
    std::vector<Rect> m_wires;
};

/// Returns places beside a vertical piece of a wire, above or below a horizontal one, with the longest pieces first.
/// `path` is in scene units, all other sizes are on the screen.
[[nodiscard]] std::vector<Rect> labelPlaces(const Viewport& view, const std::vector<Point>& path, float width,
                                            float height);

} // namespace residua::editor
