// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/viewport.h"
#include "projects/graphs/node_places.h"

#include <cstddef>
#include <vector>

namespace residua::editor {

inline constexpr float kBlockGrid = projects::kNodeGrid;
/// The gap between rows of an automatic layout, with room for three parallel wires and for a shape.
inline constexpr float kBlockRowGap = 32;

/// A box to be placed, and a wire from the top of one box to the bottom of another. Ports count from the left edge.
struct LayoutBox {
    float width = 0;
    float height = 0;
};
struct LayoutWire {
    std::size_t from = 0;
    float fromPort = 0;
    std::size_t to = 0;
    float toPort = 0;
};

/// Returns the top left corners of `boxes`, in rows from the bottom (boxes without inputs) to the top. Each box is
/// above all boxes that feed it, and exactly above a single one. A wire over several rows has a free lane beside the
/// boxes of each row. Deterministic. Ignores the backward wires of a cycle. y grows downwards, 0 is the bottom of the
/// lowest row; x is centred on 0.
[[nodiscard]] std::vector<Point> layoutBlock(const std::vector<LayoutBox>& boxes, const std::vector<LayoutWire>& wires);

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
/// unless the boxes leave no way between them. Short wires are routed first. The result is deterministic.
[[nodiscard]] std::vector<std::vector<Point>> routeWires(const std::vector<Rect>& boxes,
                                                         const std::vector<RouteEnds>& wires);

} // namespace residua::editor
