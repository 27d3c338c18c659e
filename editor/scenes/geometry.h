// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace residua::editor {

/// The distance from a thing at which the pointer still picks it, in screen pixels.
inline constexpr float kPickTolerance = 6;
/// A press that moves less than this, in screen pixels, is a click.
inline constexpr float kClickSlop = 4;

struct Point {
    float x = 0;
    float y = 0;

    bool operator==(const Point&) const = default;
};
struct Rect {
    float left = 0;
    float top = 0;
    float right = 0;
    float bottom = 0;

    [[nodiscard]] bool contains(Point p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
    [[nodiscard]] bool overlaps(const Rect& o) const
    {
        return left <= o.right && o.left <= right && top <= o.bottom && o.top <= bottom;
    }
    [[nodiscard]] Point centre() const { return {(left + right) / 2, (top + bottom) / 2}; }
    [[nodiscard]] float width() const { return right - left; }
    [[nodiscard]] float height() const { return bottom - top; }
    bool operator==(const Rect&) const = default;
};

/// The rectangle with these two opposite corners.
[[nodiscard]] inline Rect rectBetween(Point a, Point b)
{
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
}
/// Grows `area` until it contains `rect`; nullopt becomes `rect`.
inline void include(std::optional<Rect>& area, const Rect& rect)
{
    area = area ? Rect{std::min(area->left, rect.left), std::min(area->top, rect.top),
                       std::max(area->right, rect.right), std::max(area->bottom, rect.bottom)}
                : rect;
}

/// Returns the distance of `p` from a line of straight parts; very large if the line is empty.
[[nodiscard]] inline float distanceTo(const std::vector<Point>& path, Point p)
{
    float nearest = std::numeric_limits<float>::max();
    for (std::size_t i = 1; i < path.size(); ++i) {
        const Point a = path[i - 1];
        const Point b = path[i];
        const float dx = b.x - a.x;
        const float dy = b.y - a.y;
        const float length = dx * dx + dy * dy;
        const float t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0F, 1.0F) : 0.0F;
        nearest = std::min(nearest, std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy));
    }
    return nearest;
}

/// Returns the smallest of 1, 2, 5, 10, 20 … that is at least `apart`. With a label at every such place, labels of a
/// width of `apart` places do not overlap.
[[nodiscard]] inline std::int64_t labelStep(float apart)
{
    std::int64_t step = 1;
    for (int i = 0; static_cast<float>(step) < apart; ++i) {
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    }
    return step;
}

} // namespace residua::editor
