// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/arc_shape.h"
#include "resources/colours.h"

namespace residua::editor {

/// How an arc is drawn where nothing is pointed at: the same for any part of the scene that is in sight.
struct ArcInk {
    ArcShape shape; ///< scene units
    resources::Rgb colour;
    float width = 1; ///< screen pixels
    float aside = 0; ///< screen pixels outwards and upwards, where the ports of a shortcut lie side by side
    /// Opacity is opacity · (floor·fade + (1 − floor·fade)·strength), fade going from 1 down to a little as arcs crowd
    /// each other.
    float opacity = 1;
    float floor = 1;
    float strength = 0; ///< in [0, 1]
    bool dashed = false;

    /// The shape in scene units, at `zoom` screen pixels a unit.
    [[nodiscard]] ArcShape shapeAt(float zoom) const;
    [[nodiscard]] double alpha(double fade) const { return opacity * (floor * fade + (1 - floor * fade) * strength); }
};

/// The fade where so many arcs are in sight.
[[nodiscard]] double fadeOf(double crowd);

} // namespace residua::editor
