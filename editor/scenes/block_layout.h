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

/// A box to be placed, and a wire from the top of one box to the bottom of another. Port positions count from the left
/// edge.
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

} // namespace residua::editor
