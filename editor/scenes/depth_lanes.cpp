// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/depth_lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace residua::editor {

namespace {

constexpr float kFirstLane = 16; ///< above the row
constexpr float kNextLane = 7;
constexpr std::int64_t kMostStreams = 8;
constexpr float kRead = 0.3F; ///< share of a box's width from its left at which it is read into
constexpr float kWritten = 0.7F;
constexpr float kLaneMargin = 10; ///< above the highest lane
constexpr float kBypass = 12;     ///< above a box, and beside it
constexpr float kWidest = 10;     ///< width of a concatenation at its end
constexpr float kThinnest = 1.5F;

float middle(const Rect& box)
{
    return box.centre().x;
}

/// Draws lanes from the stem over all layers to the head.
class Lanes {
public:
    explicit Lanes(std::span<const Rect> boxes) : m_boxes(boxes) {}

    DepthLanes streams(std::int64_t count)
    {
        const std::int64_t drawn = std::clamp<std::int64_t>(count, 1, kMostStreams);
        for (std::int64_t lane = 0; lane < drawn; ++lane) {
            const float y = -kFirstLane - kNextLane * static_cast<float>(lane);
            m_lanes.strokes.push_back(
                {{middle(m_boxes.front()), y}, {middle(m_boxes.back()), y}, 2, static_cast<std::size_t>(lane)});
        }
        tieAll(kFirstLane + kNextLane * static_cast<float>(drawn - 1));
        return finished(drawn);
    }

    DepthLanes concatenation()
    {
        const auto spans = static_cast<float>(m_boxes.size() - 1);
        for (std::size_t i = 0; i + 1 < m_boxes.size(); ++i) {
            const float width = kThinnest + (kWidest - kThinnest) * static_cast<float>(i) / spans;
            m_lanes.strokes.push_back(
                {{middle(m_boxes[i]), -kFirstLane}, {middle(m_boxes[i + 1]), -kFirstLane}, width, std::size_t{0}});
        }
        tieAll(kFirstLane);
        return finished(1);
    }

    DepthLanes firstValues()
    {
        if (m_boxes.size() < 4) {
            return {}; // there is no layer after the first
        }
        const float from = middle(m_boxes[1]);
        m_lanes.strokes.push_back(
            {{from, -kFirstLane}, {readAt(m_boxes[m_boxes.size() - 2]), -kFirstLane}, 2, std::size_t{0}});
        m_lanes.strokes.push_back({{from, 0}, {from, -kFirstLane}});
        for (std::size_t i = 2; i + 1 < m_boxes.size(); ++i) {
            m_lanes.strokes.push_back(
                {{readAt(m_boxes[i]), -kFirstLane}, {readAt(m_boxes[i]), 0}, kThinnest, {}, true});
        }
        m_lanes.marks.push_back({{from, -kFirstLane}, "v"});
        DepthLanes done = finished(1);
        done.chained = true;
        return done;
    }

    DepthLanes gates(const std::string& text)
    {
        for (std::size_t i = 1; i + 1 < m_boxes.size(); ++i) {
            const Rect& box = m_boxes[i];
            const float row = box.centre().y;
            const Point up{box.left - kBypass, -kBypass};
            const Point down{box.right + kBypass, -kBypass};
            m_lanes.strokes.push_back({{up.x, row}, up});
            m_lanes.strokes.push_back({up, down});
            m_lanes.strokes.push_back({down, {down.x, row}, kThinnest, {}, true});
            m_lanes.marks.push_back({{box.centre().x, -kBypass}, text});
        }
        m_lanes.height = kBypass + kLaneMargin;
        return std::move(m_lanes);
    }

private:
    static float readAt(const Rect& box) { return box.left + box.width() * kRead; }

    /// Connects lanes to all boxes: every layer reads and writes them; the stem writes, the head reads.
    void tieAll(float height)
    {
        for (std::size_t i = 0; i < m_boxes.size(); ++i) {
            const bool stem = i == 0;
            const bool head = i + 1 == m_boxes.size();
            const Rect& box = m_boxes[i];
            if (!stem) {
                const float x = head ? middle(box) : readAt(box);
                m_lanes.strokes.push_back({{x, -height}, {x, 0}, kThinnest, {}, true});
            }
            if (!head) {
                const float x = stem ? middle(box) : box.left + box.width() * kWritten;
                m_lanes.strokes.push_back({{x, 0}, {x, -height}});
            }
        }
    }

    DepthLanes finished(std::int64_t lanes)
    {
        m_lanes.height = kFirstLane + kNextLane * static_cast<float>(lanes - 1) + kLaneMargin;
        m_lanes.chained = false;
        return std::move(m_lanes);
    }

    std::span<const Rect> m_boxes;
    DepthLanes m_lanes;
};

DepthLanes lanesFor(const projects::DepthMix&, std::span<const Rect>)
{
    return {};
}

DepthLanes lanesFor(const projects::MultiStream& wiring, std::span<const Rect> boxes)
{
    return Lanes(boxes).streams(wiring.streams);
}

DepthLanes lanesFor(const projects::Concatenation&, std::span<const Rect> boxes)
{
    return Lanes(boxes).concatenation();
}

DepthLanes lanesFor(const projects::BranchGate& wiring, std::span<const Rect> boxes)
{
    return wiring.gate == projects::BranchGateKind::ValueResidual ? Lanes(boxes).firstValues()
                                                                  : Lanes(boxes).gates(traitsOf(wiring.gate).symbol);
}

} // namespace

DepthLanes lanesOf(const projects::Wiring& wiring, std::span<const Rect> boxes)
{
    if (boxes.size() < 3) {
        return {}; // no layers
    }
    return std::visit([boxes](const auto& value) { return lanesFor(value, boxes); }, wiring);
}

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
