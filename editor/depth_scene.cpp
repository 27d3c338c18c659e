// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

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

// Height at u in [0, 1] along an arc of height 1.
float heightAlong(float u)
{
    const float s = std::sin(std::asin(1.0F - 2.0F * u) / 3.0F);
    return 1.0F - 4.0F * s * s;
}

// heightAlong over the rising half, in steps: bounds that cost no sine.
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

// Whether the arc can come within `reach` of the point at all; refuses most arcs at a twentieth of distanceTo's price.
bool mayPass(const Arc& arc, Point p, float reach)
{
    const float up = -p.y;
    if (p.x < arc.left - reach || p.x > arc.right + reach || up < -reach || up > arc.height + reach) {
        return false;
    }
    const float width = arc.right - arc.left;
    const float from = std::clamp((p.x - reach - arc.left) / width, 0.0F, 1.0F);
    const float to = std::clamp((p.x + reach - arc.left) / width, 0.0F, 1.0F);
    const auto step = [](float u) { return std::min(u, 1 - u) * 2 * kSteps; };
    const auto& table = risingHalf();
    const float low = std::min(step(from), step(to));
    const float high = from <= 0.5F && to >= 0.5F ? static_cast<float>(kSteps) : std::max(step(from), step(to));
    const float lowest = arc.height * table[static_cast<std::size_t>(low)];
    const float highest = arc.height * table[std::min(static_cast<std::size_t>(high) + 1, kSteps)];
    return up >= lowest - reach && up <= highest + reach;
}

constexpr std::int64_t kStripLayers = 16;

std::size_t stripOf(float x, std::size_t strips)
{
    const float strip = std::floor(x / (DepthScene::kPitch * kStripLayers));
    return static_cast<std::size_t>(std::clamp(strip, 0.0F, static_cast<float>(strips - 1)));
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
    index();
}

void DepthScene::addBoxes(const projects::Project& project)
{
    const auto add = [this](std::int64_t layer, std::string title, std::string subtitle, std::string graph) {
        const float left = leftOf(layer);
        m_boxes.push_back(
            {layer, std::move(title), std::move(subtitle), std::move(graph), {left, 0, left + kBoxWidth, kBoxHeight}});
    };
    add(0, "0", "stem", "stem");
    std::int64_t layer = 0;
    for (const auto& segment : project.network.stack) {
        for (std::int64_t i = 0; i < segment.repeat; ++i) {
            ++layer;
            add(layer, std::to_string(layer), segment.block, "block:" + segment.block);
        }
    }
    add(layer + 1, "head", projects::isLanguage(project.data) ? "next token" : "output", "head");
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

void DepthScene::index()
{
    m_byName.resize(m_arcs.size());
    std::iota(m_byName.begin(), m_byName.end(), 0U);
    std::sort(m_byName.begin(), m_byName.end(),
              [this](std::uint32_t a, std::uint32_t b) { return m_arcs[a].shortcut < m_arcs[b].shortcut; });
    m_strips.assign(m_boxes.size() / kStripLayers + 1, {});
    for (std::uint32_t i = 0; i < m_arcs.size(); ++i) {
        const std::size_t last = stripOf(m_arcs[i].right, m_strips.size());
        for (std::size_t strip = stripOf(m_arcs[i].left, m_strips.size()); strip <= last; ++strip) {
            m_strips[strip].push_back(i);
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
    const auto found = std::lower_bound(m_byName.begin(), m_byName.end(), shortcut,
                                        [this](std::uint32_t i, const Shortcut& s) { return m_arcs[i].shortcut < s; });
    return found != m_byName.end() && m_arcs[*found].shortcut == shortcut ? &m_arcs[*found] : nullptr;
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
    return hitArc(point, tolerance);
}

Hit DepthScene::hitArc(Point point, float tolerance) const
{
    Hit hit;
    float nearest = tolerance;
    const std::size_t last = m_strips.empty() ? 0 : stripOf(point.x + tolerance, m_strips.size());
    for (std::size_t s = m_strips.empty() ? 1 : stripOf(point.x - tolerance, m_strips.size()); s <= last; ++s) {
        for (const std::uint32_t i : m_strips[s]) {
            const Arc& arc = m_arcs[i];
            if (!mayPass(arc, point, nearest)) {
                continue;
            }
            if (const float distance = distanceTo(arc, point); distance < nearest) {
                nearest = distance;
                hit = {Hit::Kind::Shortcut, 0, arc.shortcut};
            }
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
