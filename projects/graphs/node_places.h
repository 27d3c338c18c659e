// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/nodes/shape.h"

#include <map>
#include <optional>
#include <vector>

// Where the nodes of a graph stand. Places are in canvas units; y grows downwards.
namespace residua::projects {

struct Box {
    double left = 0;
    double top = 0;
    double right = 0;
    double bottom = 0;

    [[nodiscard]] double width() const { return right - left; }
    [[nodiscard]] double height() const { return bottom - top; }
    [[nodiscard]] Position corner() const { return {left, top}; }
    [[nodiscard]] Position centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
    [[nodiscard]] bool contains(Position at) const
    {
        return at.x >= left && at.x <= right && at.y >= top && at.y <= bottom;
    }
    [[nodiscard]] bool overlaps(const Box& o) const
    {
        return left <= o.right && o.left <= right && top <= o.bottom && o.top <= bottom;
    }
    bool operator==(const Box&) const = default;
};
/// A box of the size of `box`, moved so that its top left corner is at `corner`.
[[nodiscard]] Box movedTo(const Box& box, Position corner);
/// The smallest box around both.
[[nodiscard]] Box around(const Box& a, const Box& b);

/// Places snap to multiples of this, so that ports which belong above each other are so exactly.
inline constexpr double kNodeGrid = 8;
/// The size of a node that is not there yet.
inline constexpr double kNodeWidth = 176;
inline constexpr double kNodeHeight = 44;
/// The box of a node of that size around `centre`.
[[nodiscard]] Box nodeBoxAround(Position centre);

/// The place nearest to `wanted` at which a box of its size stays clear of `taken`.
[[nodiscard]] Position freePlace(const Box& wanted, const std::vector<Box>& taken);

/// How a graph is seen: where its nodes are, also those that the document's layout leaves to the automatic one, and
/// what is in sight. Empty where nobody looks at the graph.
struct GraphView {
    GraphRef graph;
    std::map<NodeId, Box> boxes;
    std::optional<Box> inSight;
};

/// Writes the places of the nodes that the document's layout does not have yet into it, so that an edit of the graph
/// moves no other node. Nodes of `moved` are placed there instead.
[[nodiscard]] std::vector<Edit> keepPlaces(const Document& document, const GraphView& seen,
                                           const std::map<NodeId, Position>& moved = {});

/// The edges and lines along which nodes can be brought together.
enum class Alignment { Left, Centre, Right, Top, Middle, Bottom };
[[nodiscard]] std::map<NodeId, Position> aligned(const std::map<NodeId, Box>& nodes, Alignment alignment);

} // namespace residua::projects
