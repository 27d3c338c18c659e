// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "editor/scenes/viewport.h"
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

/// A curve from (left, 0) over (middle, −height) to (right, 0), vertical at both ends. Along t in [0, 1]: x = left +
/// (right − left)·(3t² − 2t³), y = −4·height·t(1 − t).
struct ArcShape {
    float left = 0;
    float right = 0;
    float height = 0;

    [[nodiscard]] Point at(float t) const;
    /// Returns t of the arc at x; 0 or 1 beyond its ends.
    [[nodiscard]] float atX(float x) const;
    [[nodiscard]] float distanceTo(Point p) const;
    /// Returns false if the arc cannot come within `reach` of the point. Much faster than distanceTo().
    [[nodiscard]] bool mayPass(Point p, float reach) const;
};

/// True if any part of the box around the arc is on a canvas of this size.
[[nodiscard]] bool inSight(const Viewport& view, float width, float height, const ArcShape& arc);

} // namespace residua::editor
