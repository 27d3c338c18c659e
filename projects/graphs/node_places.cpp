// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/graphs/node_places.h"

#include <algorithm>
#include <cmath>

namespace residua::projects {

Box movedTo(const Box& box, Position corner)
{
    return {corner.x, corner.y, corner.x + box.width(), corner.y + box.height()};
}

Box around(const Box& a, const Box& b)
{
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right), std::max(a.bottom, b.bottom)};
}

Box nodeBoxAround(Position centre)
{
    return movedTo({0, 0, kNodeWidth, kNodeHeight}, {centre.x - kNodeWidth / 2, centre.y - kNodeHeight / 2});
}

Position freePlace(const Box& wanted, const std::vector<Box>& taken)
{
    constexpr double kClear = 3 * kNodeGrid;
    constexpr int kFurthest = 192;
    const auto isFree = [&](Position at) {
        const Box box = movedTo(wanted, at);
        const Box margin{box.left - kClear, box.top - kClear, box.right + kClear, box.bottom + kClear};
        return std::ranges::none_of(taken, [&](const Box& other) { return other.overlaps(margin); });
    };
    const Position snapped{std::round(wanted.left / kNodeGrid) * kNodeGrid,
                           std::round(wanted.top / kNodeGrid) * kNodeGrid};
    // Searches in growing rings, three times as far to the sides as up and down: there is more space beside a column of
    // nodes than in it, and a node far above or below would be out of sight.
    constexpr double kStep = 4 * kNodeGrid;
    for (int ring = 0; ring <= kFurthest; ++ring) {
        for (int rows = 0; 3 * rows <= ring; ++rows) {
            const double dx = (ring - 3 * rows) * kStep;
            const double dy = rows * kStep;
            for (const Position d : {Position{dx, -dy}, Position{-dx, -dy}, Position{dx, dy}, Position{-dx, dy}}) {
                if (const Position at{snapped.x + d.x, snapped.y + d.y}; isFree(at)) {
                    return at;
                }
            }
        }
    }
    return snapped;
}

std::vector<Edit> keepPlaces(const Document& document, const GraphView& seen, const std::map<NodeId, Position>& moved)
{
    std::vector<Edit> edits;
    const auto layout = document.layout.positions.find(seen.graph);
    for (const auto& [id, box] : seen.boxes) {
        const bool placed = layout != document.layout.positions.end() && layout->second.contains(id);
        const auto to = moved.find(id);
        if (to != moved.end() || !placed) {
            edits.emplace_back(MoveNode{seen.graph, id, to != moved.end() ? to->second : box.corner()});
        }
    }
    return edits;
}

std::map<NodeId, Position> aligned(const std::map<NodeId, Box>& nodes, Alignment alignment)
{
    std::map<NodeId, Position> places;
    if (nodes.empty()) {
        return places;
    }
    Box all = nodes.begin()->second;
    for (const auto& [id, box] : nodes) {
        all = around(all, box);
    }
    for (const auto& [id, box] : nodes) {
        Position at = box.corner();
        switch (alignment) {
        case Alignment::Left:
            at.x = all.left;
            break;
        case Alignment::Centre:
            at.x = all.centre().x - box.width() / 2;
            break;
        case Alignment::Right:
            at.x = all.right - box.width();
            break;
        case Alignment::Top:
            at.y = all.top;
            break;
        case Alignment::Middle:
            at.y = all.centre().y - box.height() / 2;
            break;
        case Alignment::Bottom:
            at.y = all.bottom - box.height();
            break;
        }
        places.emplace(id, at);
    }
    return places;
}

} // namespace residua::projects
