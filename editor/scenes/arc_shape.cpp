// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/arc_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace residua::editor {
namespace {

// Returns the height at u in [0, 1] along an arc of height 1.
float heightAlong(float u)
{
    const float s = std::sin(std::asin(1.0F - 2.0F * u) / 3.0F);
    return 1.0F - 4.0F * s * s;
}

// A table of heightAlong over the rising half, for bounds without computing a sine.
constexpr std::size_t kSteps = 512;
const std::array<float, kSteps + 1>& risingHalf()
{
    static const auto table = [] {
        std::array<float, kSteps + 1> heights{};
        for (std::size_t i = 0; i <= kSteps; ++i) {
            heights[i] = heightAlong(0.5F * static_cast<float>(i) / kSteps);
        }
        return heights;
    }();
    return table;
}

} // namespace

Point ArcShape::at(float t) const
{
    return {left + (right - left) * t * t * (3 - 2 * t), -4 * height * t * (1 - t)};
}

float ArcShape::atX(float x) const
{
    // The inverse of 3t² − 2t³ on [0, 1].
    const float u = std::clamp((x - left) / (right - left), 0.0F, 1.0F);
    return 0.5F - std::sin(std::asin(1.0F - 2.0F * u) / 3.0F);
}

bool ArcShape::mayPass(Point p, float reach) const
{
    const float up = -p.y;
    if (p.x < left - reach || p.x > right + reach || up < -reach || up > height + reach) {
        return false;
    }
    const float width = right - left;
    const float from = std::clamp((p.x - reach - left) / width, 0.0F, 1.0F);
    const float to = std::clamp((p.x + reach - left) / width, 0.0F, 1.0F);
    const auto step = [](float u) { return std::min(u, 1 - u) * 2 * kSteps; };
    const auto& table = risingHalf();
    const float low = std::min(step(from), step(to));
    const float high = from <= 0.5F && to >= 0.5F ? static_cast<float>(kSteps) : std::max(step(from), step(to));
    const float lowest = height * table[static_cast<std::size_t>(low)];
    const float highest = height * table[std::min(static_cast<std::size_t>(high) + 1, kSteps)];
    return up >= lowest - reach && up <= highest + reach;
}

float ArcShape::distanceTo(Point p) const
{
    const float up = std::clamp(-p.y / height, 0.0F, 1.0F);
    const float root = std::sqrt(1.0F - up) / 2;
    float nearest = std::numeric_limits<float>::max();
    const auto consider = [&](float t) {
        const Point q = at(t);
        nearest = std::min(nearest, std::hypot(p.x - q.x, p.y - q.y));
    };
    // The points of the arc at the same height on either side, and the one at the same x.
    consider(0.5F - root);
    consider(0.5F + root);
    if (p.x >= left && p.x <= right) {
        consider(atX(p.x));
    }
    return nearest;
}

bool inSight(const Viewport& view, float width, float height, const ArcShape& arc)
{
    const Rect r = view.rectToScreen({arc.left, -arc.height, arc.right, 0});
    return r.left <= width && r.right >= 0 && r.top <= height && r.bottom >= 0;
}

} // namespace residua::editor
