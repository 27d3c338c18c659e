// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth_paint.h"

#include "editor/paint_tools.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace residua::editor {
namespace {

using resources::ThemeColours;

constexpr float kRounding = 7;
constexpr float kMergedPitch = 12; ///< screen pixels from layer to layer, below which arcs are merged
constexpr std::size_t kCrowded = 2000;
constexpr int kFinestSegments = 64;  ///< of an arc
constexpr int kCrowdedSegments = 20; ///< where so many are drawn that corners do not show
constexpr float kSmallestBoxPitch = 3;
constexpr float kSmallestLabelledBox = 22; ///< screen pixels; below it a box is a mark without text

const ThemeColours& coloursOf(const DepthPicture& picture)
{
    return resources::themeColours(picture.theme);
}

struct Stroke {
    ImU32 colour = 0;
    float width = 1;
};

Stroke strokeOf(const DepthPicture& picture, const Arc& arc)
{
    const ThemeColours& c = coloursOf(picture);
    if (picture.selection.shortcuts.contains(arc.shortcut)) {
        return {imColour(c.accent), 3.0F};
    }
    const float emphasis = picture.hoveredShortcut == arc.shortcut ? 1.5F : 0.0F;
    const bool dimmed = picture.hoveredLayer && arc.shortcut.source != *picture.hoveredLayer &&
                        arc.shortcut.target != *picture.hoveredLayer;
    const double alpha = dimmed ? 0.15 : 1.0;
    if (const auto weight = picture.weights.of(arc.shortcut, picture.port);
        weight && arc.kind != ShortcutKind::Pruned) {
        const double strength = picture.weights.scale().strength(*weight);
        return {imColour(picture.weights.scale().colour(*weight, picture.theme), alpha * (0.25 + 0.75 * strength)),
                1.0F + 3.5F * static_cast<float>(strength) + emphasis};
    }
    switch (arc.kind) {
    case ShortcutKind::Stream:
        return {imColour(c.muted, alpha), 2.0F + emphasis};
    case ShortcutKind::Fixed:
        return {imColour(c.muted, 0.8 * alpha), 1.3F + emphasis};
    case ShortcutKind::Pruned:
        return {imColour(c.muted, 0.35 * alpha), 1.0F + emphasis};
    case ShortcutKind::Learned:
    case ShortcutKind::Frozen:
        break;
    }
    return {imColour(resources::curveColour(0, picture.theme), 0.55 * alpha), 1.4F + emphasis};
}

void paintDashed(ImDrawList& list, const Viewport& view, const Arc& arc, const Stroke& stroke)
{
    const float length = (arc.right - arc.left + 2 * arc.height) * view.zoom();
    const int dashes = std::clamp(static_cast<int>(length / 10), 6, 200);
    for (int i = 0; i < dashes; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(dashes);
        const float end = t + 0.5F / static_cast<float>(dashes);
        list.AddLine(vec(view.toScreen(arc.at(t))), vec(view.toScreen(arc.at(end))), stroke.colour, stroke.width);
    }
}

void paintArc(ImDrawList& list, const Viewport& view, const Arc& arc, const Stroke& stroke, int finest)
{
    if (arc.kind == ShortcutKind::Pruned) {
        paintDashed(list, view, arc, stroke);
        return;
    }
    // The Bézier curve whose points are Arc::at: vertical at both ends, highest in the middle.
    const float control = -arc.height * 4 / 3;
    const int segments = std::clamp(static_cast<int>((arc.right - arc.left) * view.zoom() / 5), finest * 3 / 8, finest);
    list.AddBezierCubic(vec(view.toScreen({arc.left, 0})), vec(view.toScreen({arc.left, control})),
                        vec(view.toScreen({arc.right, control})), vec(view.toScreen({arc.right, 0})), stroke.colour,
                        stroke.width, segments);
    if (arc.kind == ShortcutKind::Frozen) {
        const ImVec2 top = vec(view.toScreen(arc.at(0.5F)));
        list.AddRectFilled({top.x - 4, top.y - 4}, {top.x + 4, top.y + 4}, stroke.colour, 1.5F);
    }
}

// Where layers are so near that arcs cover each other, those with both ends in the same places are drawn once, as
// the strongest of them: every one that stands out is still seen.
std::vector<const Arc*> arcsWorthDrawing(const DepthPicture& picture, std::vector<const Arc*> arcs)
{
    if (DepthScene::kPitch * picture.view.zoom() >= kMergedPitch) {
        return arcs;
    }
    struct Kept {
        std::size_t place = 0;
        float width = 0;
    };
    std::unordered_map<std::uint64_t, Kept> strongest;
    std::vector<const Arc*> kept;
    const auto cellOf = [&](float x) {
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(picture.view.toScreen({x, 0}).x)));
    };
    for (const Arc* arc : arcs) {
        const float width = strokeOf(picture, *arc).width;
        const auto [found, first] = strongest.try_emplace(
            (cellOf(arc->left) << 32U) ^ (cellOf(arc->right) & 0xFFFFFFFFU), Kept{kept.size(), width});
        if (first) {
            kept.push_back(arc);
        } else if (width > found->second.width) {
            kept[found->second.place] = arc;
            found->second.width = width;
        }
    }
    return kept;
}

void paintArcs(ImDrawList& list, const DepthPicture& picture)
{
    const Rect seen = picture.view.visible(picture.width, picture.height);
    const auto visible = [&](const Arc& arc) {
        return arc.left <= seen.right && arc.right >= seen.left && -arc.height <= seen.bottom && seen.top <= 0;
    };
    const auto isOnTop = [&](const Arc& arc) {
        return picture.hoveredShortcut == arc.shortcut || picture.selection.shortcuts.contains(arc.shortcut);
    };
    std::vector<const Arc*> below;
    std::vector<const Arc*> onTop;
    for (const Arc& arc : picture.scene.arcs()) {
        if (visible(arc)) {
            (isOnTop(arc) ? onTop : below).push_back(&arc);
        }
    }
    below = arcsWorthDrawing(picture, std::move(below));
    const int finest = below.size() > kCrowded ? kCrowdedSegments : kFinestSegments;
    for (const Arc* arc : below) {
        paintArc(list, picture.view, *arc, strokeOf(picture, *arc), finest);
    }
    for (const Arc* arc : onTop) {
        paintArc(list, picture.view, *arc, strokeOf(picture, *arc), kFinestSegments);
    }
}

// The wire along the row, where a layer reads the one before it directly.
void paintChain(ImDrawList& list, const DepthPicture& picture)
{
    const auto& boxes = picture.scene.boxes();
    const ImU32 colour = imColour(coloursOf(picture).muted, 0.8);
    for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
        const Point from = picture.view.toScreen(DepthScene::handleOf(boxes[i]));
        const Rect next = picture.view.rectToScreen(boxes[i + 1].rect);
        const Point to{next.left, from.y};
        const float head = std::min(6.0F, (to.x - from.x) / 3);
        list.AddLine(vec(from), {to.x - head, to.y}, colour, 1.5F);
        list.AddTriangleFilled(vec(to), {to.x - head, to.y - head * 0.6F}, {to.x - head, to.y + head * 0.6F}, colour);
    }
}

void paintBox(ImDrawList& list, const DepthPicture& picture, const LayerBox& box)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect r = picture.view.rectToScreen(box.rect);
    if (r.right < 0 || r.left > picture.width || r.bottom < 0 || r.top > picture.height) {
        return;
    }
    const bool selected = picture.selection.layers.contains(box.layer);
    const bool hovered = picture.hoveredLayer == box.layer;
    const bool active = picture.weights.isActive(box.layer);
    const double alpha = active ? 1.0 : 0.35;
    const bool inStack = box.layer > 0 && box.layer <= picture.scene.depth();
    const float rounding = std::min(kRounding, kRounding * picture.view.zoom());
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom},
                       imColour(inStack && !hovered ? c.surface : c.raised, alpha), rounding);
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, imColour(selected ? c.accent : c.border, selected ? 1.0 : alpha),
                 rounding, 0, selected ? 2.5F : 1.2F);

    const float width = r.right - r.left;
    if (width < kSmallestLabelledBox) {
        return;
    }
    const Point centre = r.centre();
    const bool roomForTwo = r.bottom - r.top > 38 && width > 52;
    const float inside = width - 8;
    const ImU32 text = imColour(c.text, alpha);
    if (!roomForTwo) {
        centredText(list, kTextSize, centre, inside, text, box.title);
        return;
    }
    centredText(list, kTitleSize, {centre.x, centre.y - 9}, inside, text, box.title);
    centredText(list, kTextSize, {centre.x, centre.y + 9}, inside, imColour(c.muted, alpha), box.subtitle);
}

void paintBoxes(ImDrawList& list, const DepthPicture& picture)
{
    const auto& boxes = picture.scene.boxes();
    if (DepthScene::kPitch * picture.view.zoom() >= kSmallestBoxPitch || boxes.empty()) {
        for (const LayerBox& box : boxes) {
            paintBox(list, picture, box);
        }
        return;
    }
    // Boxes without a gap between them: one bar, on which only what stands out is marked.
    const ThemeColours& c = coloursOf(picture);
    const Rect r =
        picture.view.rectToScreen({boxes.front().rect.left, 0, boxes.back().rect.right, DepthScene::kBoxHeight});
    list.AddRectFilled({r.left, r.top}, {r.right, std::max(r.bottom, r.top + 3)}, imColour(c.raised));
    list.AddRect({r.left, r.top}, {r.right, std::max(r.bottom, r.top + 3)}, imColour(c.border));
    for (const std::int64_t layer : picture.selection.layers) {
        if (const LayerBox* box = picture.scene.box(layer)) {
            const float x = picture.view.toScreen(box->rect.centre()).x;
            list.AddRectFilled({x - 1, r.top - 2}, {x + 1, std::max(r.bottom, r.top + 3) + 2}, imColour(c.accent));
        }
    }
}

void paintHandles(ImDrawList& list, const DepthPicture& picture)
{
    // A grip for every layer would be noise: only where the pointer is.
    if (!picture.hoveredLayer || *picture.hoveredLayer > picture.scene.depth()) {
        return;
    }
    if (const LayerBox* box = picture.scene.box(*picture.hoveredLayer)) {
        const ThemeColours& c = coloursOf(picture);
        const ImVec2 at = vec(picture.view.toScreen(DepthScene::handleOf(*box)));
        const float radius = std::max(4.0F, DepthScene::kHandleRadius * std::min(picture.view.zoom(), 1.2F));
        list.AddCircleFilled(at, radius, imColour(c.accent));
        list.AddCircle(at, radius, imColour(c.surface), 0, 1.5F);
    }
}

void paintHoverBadge(ImDrawList& list, const DepthPicture& picture)
{
    if (!picture.hoveredShortcut) {
        return;
    }
    const Arc* arc = picture.scene.arc(*picture.hoveredShortcut);
    if (arc == nullptr) {
        return;
    }
    const auto& shortcut = arc->shortcut;
    std::vector<std::string> lines{nameOf(shortcut)};
    switch (arc->kind) {
    case ShortcutKind::Stream:
        lines.emplace_back("residual stream: the sum of all before it");
        break;
    case ShortcutKind::Fixed:
        lines.emplace_back("fixed weight");
        break;
    case ShortcutKind::Frozen:
        lines.emplace_back("frozen");
        break;
    case ShortcutKind::Pruned:
        lines.emplace_back("pruned");
        break;
    case ShortcutKind::Learned:
        break;
    }
    if (const auto weight = picture.weights.of(shortcut, picture.port)) {
        lines.push_back("weight " + shortNumber(*weight));
    }
    paintBadge(list, {picture.view.toScreen(arc->at(0.5F)), std::move(lines), imColour(coloursOf(picture).text)},
               picture.theme, picture.width, picture.height);
}

} // namespace

void paintDepth(ImDrawList& list, const DepthPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({0, 0}, {picture.width, picture.height}, imColour(c.background));
    paintArcs(list, picture);
    if (picture.scene.chained() && DepthScene::kPitch * picture.view.zoom() >= kSmallestBoxPitch) {
        paintChain(list, picture);
    }
    paintBoxes(list, picture);
    paintHandles(list, picture);
    const Rect row = picture.view.rectToScreen(picture.scene.bounds());
    if (!picture.scene.note().empty()) {
        centredText(list, kTextSize, {picture.width / 2, row.bottom + 24}, picture.width, imColour(c.muted),
                    picture.scene.note());
    }
    if (picture.scene.depth() == 0) {
        centredText(list, kTitleSize, {picture.width / 2, row.bottom + 40}, picture.width, imColour(c.muted),
                    "No layers yet: set the stack in the outline");
    }
    paintLegend(list, picture.weights, picture.theme, picture.height);
    paintHoverBadge(list, picture);
}

void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag)
{
    const ThemeColours& c = coloursOf(picture);
    const ImU32 colour = imColour(drag.valid || !drag.target ? c.accent : c.error);
    if (drag.target && *drag.target > drag.source) {
        paintArc(list, picture.view, DepthScene::preview({drag.source, *drag.target}), {colour, 2.5F}, kFinestSegments);
    } else if (const LayerBox* box = picture.scene.box(drag.source)) {
        list.AddLine(vec(picture.view.toScreen(DepthScene::handleOf(*box))), vec(drag.pointer), colour, 2.0F);
    }
    paintBadge(list, {drag.pointer, drag.lines, colour}, picture.theme, picture.width, picture.height);
}

void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom},
                       imColour(c.accent, 0.12));
    list.AddRect({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom}, imColour(c.accent));
}

} // namespace residua::editor
