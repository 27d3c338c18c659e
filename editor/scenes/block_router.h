// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/viewport.h"

#include <cstddef>
#include <vector>

namespace residua::editor {

/// A wire to be drawn: leaves `from` upwards and enters `to` from below. Wires of one `group` carry the same value and
/// may overlap; others run beside each other if there is room.
struct RouteEnds {
    Point from;
    Point to;
    std::size_t group = 0;

    bool operator==(const RouteEnds&) const = default;
};

/// The least distance between a wire and a box.
inline constexpr float kWireClearance = 10;

/// Returns the corners of each wire, including its ends; all pieces are horizontal or vertical. No wire crosses a box,
/// unless the boxes leave no way between them. Short wires are routed first. The result depends only on the boxes and
/// wires.
[[nodiscard]] std::vector<std::vector<Point>> routeWires(const std::vector<Rect>& boxes,
                                                         const std::vector<RouteEnds>& wires);

} // namespace residua::editor
