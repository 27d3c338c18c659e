// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/scenes/depth_scene.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace residua::editor {
namespace {

using projects::DepthMix;
using projects::Shortcut;

constexpr float kMargin = 10; // from a box's corner to its outermost arc
constexpr float kHalfGap = 8; // between incoming and outgoing arcs
constexpr float kHeightUnit = 30;
constexpr float kLowestRise = 0.5F;
constexpr float kHighestRise = 3.5F;
constexpr float kRisePerLayer = 0.15F;
constexpr float kStrip = 16 * DepthScene::kPitch; // width of a part of the row, for looking up arcs
constexpr float kFoldMarkWidth = 42;
constexpr float kFoldMarkHeight = 18;
constexpr std::size_t kMostArcs = 1'000'000; // each is stored once for every strip that it passes

std::string noteFor(const projects::Topology& topology, std::int64_t depth)
{
    const auto* mix = std::get_if<DepthMix>(&topology.wiring);
    if (mix == nullptr) {
        const auto presets = projects::topologyPresets(depth);
        const auto named = std::ranges::find(presets, topology.preset, &projects::TopologyPreset::name);
        if (named != presets.end() && named->wiring.index() == topology.wiring.index()) {
            return filled(translate("Canvas", "%1: %2"), {named->title, named->summary});
        }
        return filled(translate("Canvas", "wired by %1: no shortcuts of its own between layers"), {topology.preset});
    }
    if (projects::splitsLayers(*mix) && mix->sites == projects::MixSites::Ffn) {
        return translate("Canvas", "shortcuts run between the inputs of the FFNs: j is that of layer j + 1");
    }
    return {};
}

// Returns the kind of several shortcuts drawn as one arc: learned before frozen, fixed and pruned.
projects::ShortcutKind kindOfGroup(projects::ShortcutKind a, projects::ShortcutKind b)
{
    const auto rank = [](projects::ShortcutKind kind) {
        switch (kind) {
        case projects::ShortcutKind::Pruned:
            return 0;
        case projects::ShortcutKind::Stream:
        case projects::ShortcutKind::Fixed:
            return 1;
        case projects::ShortcutKind::Frozen:
            return 2;
        case projects::ShortcutKind::Learned:
            break;
        }
        return 3;
    };
    return rank(a) >= rank(b) ? a : b;
}

std::size_t stripOf(float x, std::size_t strips)
{
    return static_cast<std::size_t>(std::clamp(std::floor(x / kStrip), 0.0F, static_cast<float>(strips - 1)));
}

} // namespace

void DepthScene::rebuild(const projects::Project& project, const std::vector<projects::LayerGroup>& groups,
                         const std::vector<LayerRun>& folds)
{
    m_boxes.clear();
    m_boxOf.clear();
    m_arcs.clear();
    m_members.clear();
    m_layers = project.network.depth();
    m_modules = modulesOf(project);
    m_note = noteFor(project.stack().topology, m_layers);
    m_chained = true;
    addBoxes(project, folds);
    if (const auto* mix = std::get_if<DepthMix>(&project.stack().topology.wiring)) {
        m_chained = mix->feeds == projects::MixFeeds::ResidualBesideBranch;
        addArcs(*mix);
    }
    std::vector<Rect> row;
    std::ranges::transform(m_boxes, std::back_inserter(row), &LayerBox::rect);
    m_lanes = lanesOf(project.stack().topology.wiring, row);
    m_chained = m_chained && m_lanes.chained;
    addBrackets(project.stack(), groups, folds);
    place();
    index();
}

void DepthScene::addArcs(const DepthMix& mix)
{
    std::vector<projects::DrawnShortcut> drawn = drawnShortcuts(mix, m_modules);
    if (drawn.size() > kMostArcs) {
        m_note = filled(translate("Canvas", "%1 shortcuts are too many to be drawn"),
                        {groupedText(static_cast<std::int64_t>(drawn.size()))});
        return;
    }
    group(mix, std::move(drawn));
}

// Makes one arc for all shortcuts between the same two boxes. If nothing is folded, that is one arc per shortcut.
void DepthScene::group(const DepthMix& mix, std::vector<projects::DrawnShortcut> drawn)
{
    const auto ends = [&](const Shortcut& s) { return std::pair(boxIndex(s.target), boxIndex(lastModuleIn(mix, s))); };
    if (m_boxes.size() < m_boxOf.size()) {
        std::stable_sort(drawn.begin(), drawn.end(),
                         [&](const projects::DrawnShortcut& a, const projects::DrawnShortcut& b) {
                             return ends(a.shortcut) < ends(b.shortcut);
                         });
    }
    for (const projects::DrawnShortcut& each : drawn) {
        const auto [target, source] = ends(each.shortcut);
        if (target <= source) { // within a fold, or from a visit of a folded loop to a later one
            m_boxes[target].inside += each.kind == projects::ShortcutKind::Pruned ? 0 : 1;
            continue;
        }
        if (!m_arcs.empty() && m_arcs.back().to == target && m_arcs.back().from == source) {
            ++m_arcs.back().count;
            m_arcs.back().kind = kindOfGroup(m_arcs.back().kind, each.kind);
        } else {
            m_arcs.push_back(
                {{}, each.shortcut, each.kind, static_cast<std::uint32_t>(m_members.size()), 1, source, target});
        }
        m_members.push_back(each.shortcut);
    }
}

// Sublinear, so that the longest shortcut of a deep stack does not flatten all others.
float DepthScene::heightOf(std::size_t from, std::size_t to) const
{
    const auto span = static_cast<float>(to) - static_cast<float>(from);
    return (kHeightUnit * std::pow(span, 0.85F) - 4) * m_rise;
}

void DepthScene::setRise(float rise)
{
    const float change = rise / m_rise;
    m_rise = rise;
    for (Arc& arc : m_arcs) {
        arc.height *= change;
    }
}

float DepthScene::riseFor(float width, float height) const
{
    const Rect all = bounds();
    return width <= 0 || height <= 0 ? 1 : riseWithin(height * all.width() / width - all.bottom);
}

float DepthScene::riseWithin(float height) const
{
    const float tallest = -bounds().top / m_rise;
    if (tallest <= 0) {
        return 1;
    }
    const float most =
        std::min(kHighestRise, 1 + kRisePerLayer * static_cast<float>(m_layers)); // a short row is not stretched
    return std::clamp(height / tallest, kLowestRise, most);
}

// Arcs share a box's top edge: incoming arcs are on its left half, outgoing ones on its right. Each half is ordered by
// length, so that arcs with a common end never cross.
void DepthScene::place()
{
    std::ranges::stable_sort(m_arcs, {}, [](const Arc& arc) { return arc.to - arc.from; });

    std::vector<std::vector<Arc*>> leaving(m_boxes.size());
    std::vector<std::vector<Arc*>> entering(m_boxes.size());
    for (Arc& arc : m_arcs) {
        arc.height = heightOf(arc.from, arc.to);
        leaving[arc.from].push_back(&arc);
        entering[arc.to].push_back(&arc);
    }
    const auto slot = [](std::size_t i, std::size_t count) {
        return count < 2 ? 0.5F : static_cast<float>(i) / static_cast<float>(count - 1);
    };
    for (std::size_t i = 0; i < m_boxes.size(); ++i) {
        const Rect& rect = m_boxes[i].rect;
        const float room = rect.width() / 2 - kHalfGap - kMargin;
        for (std::size_t out = 0; out < leaving[i].size(); ++out) {
            leaving[i][out]->left = rect.right - kMargin - room * slot(out, leaving[i].size());
        }
        for (std::size_t in = 0; in < entering[i].size(); ++in) {
            entering[i][in]->right = rect.left + kMargin + room * slot(in, entering[i].size());
        }
    }
}

void DepthScene::index()
{
    m_byName.clear();
    m_strips.assign(static_cast<std::size_t>(m_boxes.back().rect.right / kStrip) + 1, {});
    for (std::uint32_t i = 0; i < m_arcs.size(); ++i) {
        for (const Shortcut& shortcut : members(m_arcs[i])) {
            m_byName.emplace_back(shortcut, i);
        }
        const std::size_t last = stripOf(m_arcs[i].right, m_strips.size());
        for (std::size_t strip = stripOf(m_arcs[i].left, m_strips.size()); strip <= last; ++strip) {
            m_strips[strip].push_back(i);
        }
    }
    std::sort(m_byName.begin(), m_byName.end());
}

std::size_t DepthScene::boxIndex(std::int64_t module) const
{
    return m_boxOf[static_cast<std::size_t>(module)];
}

std::span<const Shortcut> DepthScene::members(const Arc& arc) const
{
    return std::span(m_members).subspan(arc.firstMember, arc.count);
}

Rect DepthScene::bounds() const
{
    Rect area{0, 0, m_boxes.empty() ? kBoxWidth : m_boxes.back().rect.right, kBoxHeight};
    for (const Arc& arc : m_arcs) {
        area.top = std::min(area.top, -arc.height);
    }
    area.top = std::min(area.top, -m_lanes.height);
    for (const LoopBracket& bracket : m_loops) {
        area.bottom = std::max(area.bottom, bracket.rect.bottom);
    }
    for (const GroupBracket& bracket : m_brackets) {
        area.bottom = std::max(area.bottom, bracket.rect.bottom);
    }
    return area;
}

std::vector<float> DepthScene::skyline(std::size_t columns) const
{
    std::vector<float> heights(columns, 0.0F);
    const float column = std::max(bounds().right, 1.0F) / static_cast<float>(columns);
    // Tallest first, so that most of the others are below and change nothing.
    for (auto arc = m_arcs.rbegin(); arc != m_arcs.rend(); ++arc) {
        const auto last = std::min(static_cast<std::size_t>(arc->right / column), columns - 1);
        for (auto i = static_cast<std::size_t>(arc->left / column); i <= last; ++i) {
            if (heights[i] < arc->height) {
                const float x = (static_cast<float>(i) + 0.5F) * column;
                heights[i] = std::max(heights[i], -arc->at(arc->atX(x)).y);
            }
        }
    }
    return heights;
}

const LayerBox* DepthScene::box(std::int64_t module) const
{
    const bool inside = module >= 0 && module < static_cast<std::int64_t>(m_boxOf.size());
    return inside ? &m_boxes[boxIndex(module)] : nullptr;
}

std::span<const LayerBox> DepthScene::boxesOf(std::int64_t layer) const
{
    if (layer < 0 || layer > m_layers + 1 || m_boxes.empty()) {
        return {};
    }
    const std::int64_t each = m_layers > 0 ? m_modules / m_layers : 1;
    const std::size_t first = boxIndex(layer == 0 ? 0 : projects::firstModule(layer, each));
    const std::size_t last = boxIndex(layer > m_layers ? m_modules + 1 : projects::lastModule(layer, each));
    return std::span(m_boxes).subspan(first, last - first + 1);
}

const Arc* DepthScene::arc(const Shortcut& shortcut) const
{
    const auto found = std::lower_bound(m_byName.begin(), m_byName.end(), std::pair(shortcut, std::uint32_t{0}));
    return found != m_byName.end() && found->first == shortcut ? &m_arcs[found->second] : nullptr;
}

Point DepthScene::handleOf(const LayerBox& box)
{
    return {box.rect.right, (box.rect.top + box.rect.bottom) / 2};
}

Rect DepthScene::foldMarkOf(const LayerBox& box)
{
    const float right = box.rect.right - 4;
    const float bottom = box.rect.bottom + kFoldMarkHeight / 2;
    return {right - kFoldMarkWidth, bottom - kFoldMarkHeight, right, bottom};
}

// Returns the handle or the mark of a box. Its reach is at most `most`, whatever its size on the screen.
Hit DepthScene::hitPart(const LayerBox& box, Point point, float tolerance, float most) const
{
    const Point handle = handleOf(box);
    const float away = std::hypot(point.x - handle.x, point.y - handle.y);
    if (box.layer <= m_layers && away <= std::min(kHandleRadius + tolerance, most)) {
        return {Hit::Kind::Handle, box.module, {}, 0};
    }
    const Rect mark = foldMarkOf(box);
    const float reach = std::min(tolerance, most);
    const Rect reached{mark.left - reach / 2, mark.top - reach / 2, mark.right + reach / 2, mark.bottom + reach};
    return box.folded() && reached.contains(point) ? Hit{Hit::Kind::Fold, box.module, {}, 0} : Hit{};
}

Hit DepthScene::hitTest(Point point, float tolerance) const
{
    // Only the boxes next to the point can contain it.
    const auto after = std::upper_bound(m_boxes.begin(), m_boxes.end(), point.x,
                                        [](float x, const LayerBox& box) { return x < box.rect.left; });
    const auto from = after - std::min<std::ptrdiff_t>(std::distance(m_boxes.begin(), after), 2);
    const std::span<const LayerBox> beside(from, after == m_boxes.end() ? after : after + 1);
    for (const LayerBox& box : beside) {
        if (box.rect.contains(point)) {
            const Hit part = hitPart(box, point, tolerance, box.rect.width() / 4);
            return part.kind == Hit::Kind::Nothing ? Hit{Hit::Kind::Layer, box.module, {}, 0} : part;
        }
    }
    static_assert(2 * kGap <= kHalfWidth); // no point is in reach of two handles
    for (const LayerBox& box : beside) {
        if (const Hit part = hitPart(box, point, tolerance, kGap); part.kind != Hit::Kind::Nothing) {
            return part;
        }
    }
    for (std::size_t i = 0; i < m_brackets.size(); ++i) {
        if (m_brackets[i].rect.contains(point)) {
            return {Hit::Kind::Group, 0, {}, i};
        }
    }
    for (std::size_t i = 0; i < m_loops.size(); ++i) {
        if (m_loops[i].rect.contains(point)) {
            return {Hit::Kind::Loop, 0, {}, i};
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
            if (!arc.mayPass(point, nearest)) {
                continue;
            }
            if (const float distance = arc.distanceTo(point); distance < nearest) {
                nearest = distance;
                hit = {Hit::Kind::Shortcut, 0, arc.shortcut, 0};
            }
        }
    }
    return hit;
}

Arc DepthScene::preview(std::int64_t source, std::int64_t target) const
{
    const std::size_t from = boxIndex(source);
    const std::size_t to = boxIndex(target);
    const Rect& left = m_boxes[from].rect;
    const Rect& right = m_boxes[to].rect;
    return {{left.left + left.width() * 0.75F, right.left + right.width() * 0.25F, heightOf(from, to)},
            {source, target},
            projects::ShortcutKind::Learned,
            0,
            1,
            from,
            to};
}

std::vector<Shortcut> DepthScene::shortcutsIn(const Rect& area) const
{
    std::vector<Shortcut> found;
    for (const Arc& arc : m_arcs) {
        // An arc is in the box if its top is, so that a box does not select all arcs that pass through it.
        if (arc.kind != projects::ShortcutKind::Stream && area.contains(arc.at(0.5F))) {
            found.insert(found.end(), members(arc).begin(), members(arc).end());
        }
    }
    return found;
}

std::vector<std::int64_t> DepthScene::layersIn(const Rect& area) const
{
    std::set<std::int64_t> found;
    for (const LayerBox& candidate : m_boxes) {
        if (area.overlaps(candidate.rect)) {
            const std::vector<std::int64_t> layers = candidate.layers();
            found.insert(layers.begin(), layers.end());
        }
    }
    return {found.begin(), found.end()};
}

} // namespace residua::editor
