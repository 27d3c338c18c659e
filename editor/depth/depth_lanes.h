// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/geometry.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::editor {

/// How a wiring that is no mix of the stack is drawn above the row of boxes. Scene units, as of DepthScene.
struct DepthLanes {
    struct Stroke {
        Point from;
        Point to;
        float width = 1.5F;
        std::optional<std::size_t> colour = {}; ///< of the curves; nullopt: a tie between a lane and a box
        bool arrow = false;                     ///< at `to`
    };
    /// What weighs the residual or the branch there.
    struct Mark {
        Point at;
        std::string text;
    };
    std::vector<Stroke> strokes;
    std::vector<Mark> marks;
    float height = 0;    ///< above the row
    bool chained = true; ///< layers read the one before them along the row
};

/// Streams as lanes that each layer reads and writes; gates on a bypass of each box; a concatenation as one lane that
/// widens; the first layer's values as a lane to all later ones. Empty for a mix, whose shortcuts are arcs. `boxes`:
/// of the stem, the layers, the head.
[[nodiscard]] DepthLanes lanesOf(const projects::Wiring& wiring, std::span<const Rect> boxes);

} // namespace residua::editor
