// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/block_labels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace residua::editor {

BlockLabels::BlockLabels(const BlockScene& scene, const Viewport& view)
{
    for (const BlockNode& node : scene.nodes()) {
        m_taken.push_back(view.rectToScreen(node.rect));
    }
    for (const BlockWire& wire : scene.wires()) {
        for (std::size_t i = 1; i < wire.path.size(); ++i) {
            m_wires.push_back(rectBetween(view.toScreen(wire.path[i - 1]), view.toScreen(wire.path[i])));
        }
    }
}

std::optional<Rect> BlockLabels::claim(const std::vector<Rect>& places, Wires wires)
{
    const auto hits = [](const std::vector<Rect>& others, const Rect& r) {
        return std::ranges::any_of(others, [&](const Rect& other) { return other.overlaps(r); });
    };
    for (const bool overWires : {false, true}) {
        if (overWires && wires == Wires::Avoid) {
            break;
        }
        for (const Rect& place : places) {
            if (!hits(m_taken, place) && (overWires || !hits(m_wires, place))) {
                m_taken.push_back(place);
                return place;
            }
        }
    }
    return std::nullopt;
}

std::vector<Rect> labelPlaces(const Viewport& view, const std::vector<Point>& path, float width, float height)
{
    constexpr float kAside = 4;
    std::vector<std::pair<float, std::size_t>> pieces;
    for (std::size_t i = 1; i < path.size(); ++i) {
        pieces.emplace_back(-(std::abs(path[i].x - path[i - 1].x) + std::abs(path[i].y - path[i - 1].y)), i);
    }
    std::ranges::stable_sort(pieces);
    std::vector<Rect> places;
    for (const auto& [length, i] : pieces) {
        const Point a = view.toScreen(path[i - 1]);
        const Point b = view.toScreen(path[i]);
        const Point c{(a.x + b.x) / 2, (a.y + b.y) / 2};
        const bool upright = std::abs(a.x - b.x) < 1;
        const float needed = upright ? height + 2 : width;
        if (-length * view.zoom() < needed) {
            continue;
        }
        const auto plate = [&](float left, float top) { places.push_back({left, top, left + width, top + height}); };
        if (upright) {
            plate(c.x + kAside, c.y - height / 2);
            plate(c.x - kAside - width, c.y - height / 2);
        } else {
            plate(c.x - width / 2, c.y - kAside + 1 - height);
            plate(c.x - width / 2, c.y + kAside - 1);
        }
    }
    return places;
}

} // namespace residua::editor
