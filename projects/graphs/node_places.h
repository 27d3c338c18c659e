// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/edit/edit.h"
#include "projects/model/graph.h"
#include "projects/nodes/shape.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

// The positions of a graph's nodes, in canvas units; y grows downwards.

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
/// Returns a box of the size of `box` with its top left corner at `corner`.
[[nodiscard]] Box movedTo(const Box& box, Position corner);
/// Returns the smallest box around both.
[[nodiscard]] Box around(const Box& a, const Box& b);

/// Positions snap to multiples of this, so that ports that belong above each other are exactly aligned.
inline constexpr double kNodeGrid = 8;
/// The size of a node that does not exist yet.
inline constexpr double kNodeWidth = 176;
inline constexpr double kNodeHeight = 44;
/// Returns the box of a node of that size around `centre`.
[[nodiscard]] Box nodeBoxAround(Position centre);

/// Returns the position nearest to `wanted` at which a box of its size does not overlap `taken`.
[[nodiscard]] Position freePlace(const Box& wanted, const std::vector<Box>& taken);

/// The view of a graph: the boxes of its nodes, including those placed by the automatic layout, and the visible area.
/// Empty if no view shows the graph.
struct GraphView {
    GraphRef graph;
    std::map<NodeId, Box> boxes;
    std::optional<Box> inSight;
};

/// Writes the positions of nodes that the document's layout lacks, so that an edit of the graph moves no other node.
/// Nodes in `moved` get that position.
[[nodiscard]] std::vector<Edit> keepPlaces(const Document& document, const GraphView& seen,
                                           const std::map<NodeId, Position>& moved = {});

/// The edges and lines along which nodes can be aligned.
enum class Alignment { Left, Centre, Right, Top, Middle, Bottom };
[[nodiscard]] std::map<NodeId, Position> aligned(const std::map<NodeId, Box>& nodes, Alignment alignment);

/// A search result: a node of a kind, one of its choices ("relu"), or an expression node with the text as its formula.
struct NodeOffer {
    std::string kind;
    std::string title;
    std::string summary;
    std::map<std::string, ParamValue> params = {};
};

/// Returns `text` with its ASCII letters in lower case, as typed texts are compared.
[[nodiscard]] std::string lower(std::string_view text);

/// Returns the nodes that a typed text can stand for. An empty text gives all kinds, other text the kinds whose title,
/// key, category or summary contains every word, with titles that begin with it first. A text that is a formula with at
/// least one name also gives an expression node.
[[nodiscard]] std::vector<NodeOffer> offersFor(std::string_view text);

} // namespace residua::projects
