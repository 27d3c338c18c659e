// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/viewport.h"

#include <cstddef>
#include <vector>

namespace residua::editor {

/// A wire to be drawn: leaves `from` upwards, enters `to` from below. Wires of one `group` carry the same value and
/// may run on each other; others keep beside each other where there is room.
struct RouteEnds {
    Point from;
    Point to;
    std::size_t group = 0;

    bool operator==(const RouteEnds&) const = default;
};

/// How near a wire comes to a box.
inline constexpr float kWireClearance = 10;

/// Finds a way for each wire: its corners, its ends included, with all pieces level or upright. No wire crosses a box,
/// unless boxes stand so close that there is no way between them. Short wires are routed first; the same boxes and
/// wires give the same lines.
[[nodiscard]] std::vector<std::vector<Point>> routeWires(const std::vector<Rect>& boxes,
                                                         const std::vector<RouteEnds>& wires);

} // namespace residua::editor
