// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::editor {
namespace {

using projects::DepthMix;
using projects::Shortcut;

constexpr float kMargin = 10; // from a box's corner to its outermost arc
constexpr float kHalfGap = 8; // between arcs that enter and arcs that leave
constexpr float kHeightUnit = 30;

float leftOf(std::int64_t layer)
{
    return static_cast<float>(layer) * DepthScene::kPitch;
}

// Sublinear, so that the longest shortcut of a deep stack does not flatten all the others.
float heightOf(std::int64_t span)
{
    return kHeightUnit * std::pow(static_cast<float>(span), 0.85F) - 4;
}

// Weights that nobody trains and that are all one: the plain residual sum. Its arcs would say nothing
// but "everything so far", so it is drawn as a stream from layer to layer.
bool isPlainSum(const DepthMix& mix)
{
    return mix.weight == projects::WeightKind::Fixed && mix.init == projects::MixInit::Ones &&
           mix.normalise == projects::NormaliseOver::None && mix.entry == projects::StackEntry::Branch &&
           std::holds_alternative<projects::AllSources>(mix.sources) && mix.states.empty();
}

std::string noteFor(const projects::Topology& topology)
{
    return std::holds_alternative<DepthMix>(topology.wiring)
               ? std::string{}
               : "wired by " + topology.preset + ": no shortcuts of its own between layers";
}

// t of a point x on an arc: the inverse of 3t² − 2t³ on [0, 1].
float inverseSmoothstep(float u)
{
    return 0.5F - std::sin(std::asin(1.0F - 2.0F * u) / 3.0F);
}

float distanceTo(const Arc& arc, Point p)
{
    const float width = arc.right - arc.left;
    const float up = std::clamp(-p.y / arc.height, 0.0F, 1.0F);
    const float root = std::sqrt(1.0F - up) / 2;
    float nearest = std::numeric_limits<float>::max();
    const auto consider = [&](float t) {
        const Point q = arc.at(t);
        nearest = std::min(nearest, std::hypot(p.x - q.x, p.y - q.y));
    };
    // The point of the arc at the same height on either side, and that at the same x.
    consider(0.5F - root);
    consider(0.5F + root);
    if (p.x >= arc.left && p.x <= arc.right) {
        consider(inverseSmoothstep((p.x - arc.left) / width));
    }
    return nearest;
}

} // namespace

Point Arc::at(float t) const
{
    return {left + (right - left) * t * t * (3 - 2 * t), -4 * height * t * (1 - t)};
}

void DepthScene::rebuild(const projects::Project& project)
{
    m_boxes.clear();
    m_arcs.clear();
    m_depth = project.network.depth();
    m_note = noteFor(project.topology);
    m_chained = true;
    addBoxes(project);
    if (const auto* mix = std::get_if<DepthMix>(&project.topology.wiring)) {
        m_chained = mix->feeds == projects::MixFeeds::ResidualBesideBranch;
        addArcs(*mix);
    }
    place();
}

void DepthScene::addBoxes(const projects::Project& project)
{
    const auto add = [this](std::int64_t layer, std::string title, std::string subtitle, std::string block) {
        const float left = leftOf(layer);
        m_boxes.push_back(
            {layer, std::move(title), std::move(subtitle), std::move(block), {left, 0, left + kBoxWidth, kBoxHeight}});
    };
    add(0, "0", "stem", {});
    std::int64_t layer = 0;
    for (const auto& segment : project.network.stack) {
        for (std::int64_t i = 0; i < segment.repeat; ++i) {
            ++layer;
            add(layer, std::to_string(layer), segment.block, segment.block);
        }
    }
    add(layer + 1, "head", projects::isLanguage(project.data) ? "next token" : "output", {});
}

void DepthScene::addArcs(const DepthMix& mix)
{
    if (isPlainSum(mix)) {
        for (std::int64_t target = 1; target <= m_depth + 1; ++target) {
            m_arcs.push_back({{target - 1, target}, ShortcutKind::Stream, 0, 0, 0});
        }
        return;
    }
    for (const DrawnShortcut& drawn : drawnShortcuts(mix, m_depth)) {
        m_arcs.push_back({drawn.shortcut, drawn.kind, 0, 0, 0});
    }
}

// Arcs share a box's top edge: those that enter stand on its left half, those that leave on its right,
// each half ordered by length so that arcs with an end in common never cross.
void DepthScene::place()
{
    const auto span = [](const Arc& arc) { return arc.shortcut.target - arc.shortcut.source; };
    std::stable_sort(m_arcs.begin(), m_arcs.end(), [&](const Arc& a, const Arc& b) { return span(a) < span(b); });

    std::vector<std::vector<Arc*>> leaving(m_boxes.size());
    std::vector<std::vector<Arc*>> entering(m_boxes.size());
    for (Arc& arc : m_arcs) {
        arc.height = heightOf(span(arc));
        leaving[static_cast<std::size_t>(arc.shortcut.source)].push_back(&arc);
        entering[static_cast<std::size_t>(arc.shortcut.target)].push_back(&arc);
    }
    constexpr float room = kBoxWidth / 2 - kHalfGap - kMargin;
    const auto slot = [](std::size_t i, std::size_t count) {
        return count < 2 ? 0.5F : static_cast<float>(i) / static_cast<float>(count - 1);
    };
    for (std::size_t layer = 0; layer < m_boxes.size(); ++layer) {
        const float left = m_boxes[layer].rect.left;
        const auto& out = leaving[layer];
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i]->left = left + kBoxWidth - kMargin - room * slot(i, out.size());
        }
        const auto& in = entering[layer];
        for (std::size_t i = 0; i < in.size(); ++i) {
            in[i]->right = left + kMargin + room * slot(i, in.size());
        }
    }
}

Rect DepthScene::bounds() const
{
    float top = 0;
    for (const Arc& arc : m_arcs) {
        top = std::min(top, -arc.height);
    }
    const float right = m_boxes.empty() ? kBoxWidth : m_boxes.back().rect.right;
    return {0, top, right, kBoxHeight};
}

const LayerBox* DepthScene::box(std::int64_t layer) const
{
    const bool inside = layer >= 0 && layer < static_cast<std::int64_t>(m_boxes.size());
    return inside ? &m_boxes[static_cast<std::size_t>(layer)] : nullptr;
}

const Arc* DepthScene::arc(const Shortcut& shortcut) const
{
    const auto found =
        std::find_if(m_arcs.begin(), m_arcs.end(), [&](const Arc& arc) { return arc.shortcut == shortcut; });
    return found == m_arcs.end() ? nullptr : &*found;
}

Point DepthScene::handleOf(const LayerBox& box)
{
    return {box.rect.right, (box.rect.top + box.rect.bottom) / 2};
}

Hit DepthScene::hitTest(Point point, float tolerance) const
{
    // Only the boxes beside the point can hold it.
    const auto near = static_cast<std::int64_t>(std::floor(point.x / kPitch));
    for (const std::int64_t layer : {near, near + 1}) {
        const LayerBox* candidate = box(layer);
        if (candidate == nullptr) {
            continue;
        }
        const Point handle = handleOf(*candidate);
        const bool hasHandle = layer <= m_depth;
        if (hasHandle && std::hypot(point.x - handle.x, point.y - handle.y) <= kHandleRadius + tolerance) {
            return {Hit::Kind::Handle, layer, {}};
        }
        if (candidate->rect.contains(point)) {
            return {Hit::Kind::Layer, layer, {}};
        }
    }
    Hit hit;
    float nearest = tolerance;
    for (const Arc& arc : m_arcs) {
        if (point.x < arc.left - tolerance || point.x > arc.right + tolerance || point.y > tolerance ||
            point.y < -arc.height - tolerance) {
            continue;
        }
        if (const float distance = distanceTo(arc, point); distance < nearest) {
            nearest = distance;
            hit = {Hit::Kind::Shortcut, 0, arc.shortcut};
        }
    }
    return hit;
}

Arc DepthScene::preview(const Shortcut& shortcut)
{
    return {shortcut, ShortcutKind::Learned, leftOf(shortcut.source) + kBoxWidth * 0.75F,
            leftOf(shortcut.target) + kBoxWidth * 0.25F, heightOf(shortcut.target - shortcut.source)};
}

std::vector<Shortcut> DepthScene::shortcutsIn(const Rect& area) const
{
    std::vector<Shortcut> found;
    for (const Arc& arc : m_arcs) {
        // Taken by its top, so that a box drawn over a few arcs does not pick up all that pass below.
        if (arc.kind != ShortcutKind::Stream && area.contains(arc.at(0.5F))) {
            found.push_back(arc.shortcut);
        }
    }
    return found;
}

std::vector<std::int64_t> DepthScene::layersIn(const Rect& area) const
{
    std::vector<std::int64_t> found;
    for (const LayerBox& candidate : m_boxes) {
        if (area.overlaps(candidate.rect)) {
            found.push_back(candidate.layer);
        }
    }
    return found;
}

} // namespace residua::editor
