// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/arc_shape.h"
#include "resources/colours.h"

namespace residua::editor {

/// The style of an arc when nothing is highlighted. It does not depend on the visible part of the scene.
struct ArcInk {
    ArcShape shape; ///< scene units
    resources::Rgb colour;
    float width = 1; ///< screen pixels
    float aside = 0; ///< screen pixels outwards and upwards, if the ports of a shortcut are drawn side by side
    /// Opacity is opacity · (floor·fade + (1 − floor·fade)·strength). fade decreases from 1 as more arcs are visible.
    float opacity = 1;
    float floor = 1;
    float strength = 0; ///< in [0, 1]
    bool dashed = false;

    /// Returns the shape in scene units at `zoom` screen pixels per unit.
    [[nodiscard]] ArcShape shapeAt(float zoom) const;
    [[nodiscard]] double alpha(double fade) const { return opacity * (floor * fade + (1 - floor * fade) * strength); }
};

/// Returns the fade for `crowd` visible arcs.
[[nodiscard]] double fadeOf(double crowd);

} // namespace residua::editor
