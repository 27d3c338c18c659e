// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace residua::editor {

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

} // namespace residua::editor
