// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "editor/scenes/viewport.h"

namespace residua::editor {

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
    /// Returns false if the arc cannot come within `reach` of the point. Excludes most arcs in a twentieth of the time
    /// of distanceTo().
    [[nodiscard]] bool mayPass(Point p, float reach) const;
};

/// True if any part of the box around the arc is on a canvas of this size.
[[nodiscard]] bool inSight(const Viewport& view, float width, float height, const ArcShape& arc);

} // namespace residua::editor
