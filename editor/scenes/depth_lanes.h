// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "projects/model/topology.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::editor {

/// The drawing of a wiring that is not a mix of the stack, above the row of boxes. In scene units as in DepthScene.
struct DepthLanes {
    struct Stroke {
        Point from;
        Point to;
        float width = 1.5F;
        std::optional<std::size_t> colour = {}; ///< colour of the curves; nullopt for a tie between a lane and a box
        bool arrow = false;                     ///< at `to`
    };
    /// The symbol of the factor of the residual or the branch.
    struct Mark {
        Point at;
        std::string text;
    };
    std::vector<Stroke> strokes;
    std::vector<Mark> marks;
    float height = 0;    ///< above the row
    bool chained = true; ///< true if layers read the one before them along the row
};

/// Returns streams as lanes that each layer reads and writes, gates on a bypass of each box, a concatenation as one
/// lane that widens, or the first layer's values as a lane to all later layers. Empty for a mix, whose shortcuts are
/// arcs. `boxes` are those of the stem, the layers and the head.
[[nodiscard]] DepthLanes lanesOf(const projects::Wiring& wiring, std::span<const Rect> boxes);

} // namespace residua::editor
