// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/canvas/viewport.h"
#include "projects/graphs/node_places.h"

#include <cstddef>
#include <vector>

namespace residua::editor {

inline constexpr float kBlockGrid = projects::kNodeGrid;
/// Between the rows of an automatic layout: room for three wires beside each other, and for a shape.
inline constexpr float kBlockRowGap = 32;

/// A box to be placed, and a wire from the top of one to the bottom of another. Port places count from the left edge.
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

/// The top left corners of `boxes`, in rows from the bottom (what is fed by nothing) to the top: each box stands above
/// all that feed it, and above the one that feeds it alone exactly. A wire over several rows has a lane kept free
/// beside the boxes of each. Deterministic; wires of a cycle that lead back are overlooked. y grows downwards, 0 is
/// the bottom of the lowest row; x is centred on 0.
[[nodiscard]] std::vector<Point> layoutBlock(const std::vector<LayoutBox>& boxes, const std::vector<LayoutWire>& wires);

} // namespace residua::editor
