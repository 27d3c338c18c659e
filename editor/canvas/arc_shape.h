// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/geometry.h"
#include "editor/canvas/viewport.h"

namespace residua::editor {

/// A curve from (left, 0) up and over to (right, 0), vertical at both ends and `height` high in the middle.
/// Along t in [0, 1]: x = left + (right − left)·(3t² − 2t³), y = −4·height·t(1 − t).
struct ArcShape {
    float left = 0;
    float right = 0;
    float height = 0;

    [[nodiscard]] Point at(float t) const;
    /// t where the arc stands at x; 0 or 1 beyond its ends.
    [[nodiscard]] float atX(float x) const;
    [[nodiscard]] float distanceTo(Point p) const;
    /// Whether the arc can come within `reach` of the point at all; excludes most arcs in a twentieth of the time that
    /// distanceTo takes.
    [[nodiscard]] bool mayPass(Point p, float reach) const;
};

/// Whether any of the box around the arc is on a canvas of this size.
[[nodiscard]] bool inSight(const Viewport& view, float width, float height, const ArcShape& arc);

} // namespace residua::editor
