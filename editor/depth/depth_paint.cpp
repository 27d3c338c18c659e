// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/depth_paint.h"

#include "editor/scenes/words.h"
#include "editor/shortcuts/arc_painter.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace residua::editor {

namespace {

using resources::ThemeColours;

constexpr float kRounding = 7;
constexpr double kLeftOutAlpha = 0.35; ///< for a layer that the step leaves out
constexpr double kRunningAlpha = 0.18; ///< for the share of a layer that the step runs
constexpr float kSmallestBoxPitch = 3;
constexpr float kLoopBadgeBelow = 26;      ///< below the line of a loop, where its controls are
constexpr float kThinnedAbove = 50;        ///< above the lower border, where the button that folds is
constexpr float kSmallestLabelledBox = 22; ///< screen pixels; a smaller box is a mark without text

const ThemeColours& coloursOf(const DepthPicture& picture)
{
    return resources::themeColours(picture.theme);
}

// Paints the wire along the row if each layer reads the one before it directly.
void paintChain(ImDrawList& list, const DepthPicture& picture)
{
    const auto& boxes = picture.scene.boxes();
    const ImU32 colour = imColour(coloursOf(picture).muted, 0.8);
    for (std::size_t i = 0; i + 1 < boxes.size(); ++i) {
        const Point from = picture.view.toScreen(DepthScene::handleOf(boxes[i]));
        const Rect next = picture.view.rectToScreen(boxes[i + 1].rect);
        if (boxes[i].joinsNext || next.left < 0 || from.x > picture.width) {
            continue;
        }
        const Point to{next.left, from.y};
        const float head = std::min(6.0F, (to.x - from.x) / 3);
        list.AddLine(vec(from), {to.x - head, to.y}, colour, 1.5F);
        list.AddTriangleFilled(vec(to), {to.x - head, to.y - head * 0.6F}, {to.x - head, to.y + head * 0.6F}, colour);
    }
}

// Paints streams, gates and the like, if the wiring is not a mix of the stack.
void paintLanes(ImDrawList& list, const DepthPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    const float zoom = picture.view.zoom();
    for (const DepthLanes::Stroke& stroke : picture.scene.lanes().strokes) {
        const Point from = picture.view.toScreen(stroke.from);
        const Point to = picture.view.toScreen(stroke.to);
        if (std::max(from.x, to.x) < 0 || std::min(from.x, to.x) > picture.width) {
            continue;
        }
        const ImU32 colour =
            stroke.colour ? imColour(resources::curveColour(*stroke.colour, picture.theme)) : imColour(c.muted, 0.8);
        list.AddLine(vec(from), vec(to), colour, std::max(stroke.width * std::min(zoom, 1.0F), 1.0F));
        if (stroke.arrow) {
            const float head = 5 * std::min(zoom, 1.0F);
            list.AddTriangleFilled(vec(to), {to.x - head * 0.6F, to.y - head}, {to.x + head * 0.6F, to.y - head},
                                   colour);
        }
    }
    for (const DepthLanes::Mark& mark : picture.scene.lanes().marks) {
        const Point at = picture.view.toScreen(mark.at);
        const float half = textWidth(kTextSize, mark.text) / 2 + 5;
        if (2 * half > DepthScene::kBoxWidth * zoom || at.x < -half || at.x > picture.width + half) {
            continue;
        }
        list.AddRectFilled({at.x - half, at.y - 9}, {at.x + half, at.y + 9}, imColour(c.surface), 9);
        list.AddRect({at.x - half, at.y - 9}, {at.x + half, at.y + 9}, imColour(c.border), 9);
        centredText(list, kTextSize, at, 2 * half, imColour(c.text), mark.text);
    }
}

// Paints the number of layers of a folded range on its lower edge. A click there unfolds it.
void paintFoldMark(ImDrawList& list, const DepthPicture& picture, const LayerBox& box)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect mark = picture.view.rectToScreen(DepthScene::foldMarkOf(box));
    const std::string count = "×" + std::to_string(box.lastLayer - box.layer + 1);
    if (box.rect.width() * picture.view.zoom() < kSmallestLabelledBox) {
        return;
    }
    // Its size follows the text, which does not shrink with the box.
    const float across = std::max(mark.width(), textWidth(kTextSize, count) + 10) / 2;
    const float down = std::max(mark.height(), kTextSize + 3) / 2;
    const Point at = mark.centre();
    const Rect r{at.x - across, at.y - down, at.x + across, at.y + down};
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(c.raised), r.height() / 2);
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, imColour(c.border), r.height() / 2);
    centredText(list, kTextSize, r.centre(), r.width() - 4, imColour(c.text), count);
}

// Corners of a box that touch its other half are square.
ImDrawFlags cornersOf(const DepthPicture& picture, const LayerBox& box)
{
    const LayerBox* before = picture.scene.box(box.module - 1);
    if (box.joinsNext) {
        return ImDrawFlags_RoundCornersLeft;
    }
    return before != nullptr && before->joinsNext ? ImDrawFlags_RoundCornersRight : ImDrawFlags_RoundCornersAll;
}

void paintBoxText(ImDrawList& list, const LayerBox& box, const Rect& r, ImU32 title, ImU32 subtitle)
{
    if (r.width() < kSmallestLabelledBox) {
        return;
    }
    const Point centre = r.centre();
    const float inside = r.width() - 3;
    if (r.height() <= 38 || r.width() <= 44) {
        centredText(list, kTextSize, centre, inside, title, box.title);
        return;
    }
    centredText(list, kTitleSize, {centre.x, centre.y - 9}, inside, title, box.title);
    centredText(list, kTextSize, {centre.x, centre.y + 9}, inside, subtitle, box.subtitle);
}

/// Shades the share of a layer's heads or MLP parts that the step runs, from the bottom of the box up.
void paintLeftOut(ImDrawList& list, const Rect& r, double share, float rounding, ImDrawFlags corners,
                  const ThemeColours& c)
{
    const float level = r.top + static_cast<float>(1 - share) * r.height();
    list.AddRectFilled({r.left, r.top}, {r.right, level}, imColour(c.background), rounding,
                       corners & ImDrawFlags_RoundCornersTop);
    list.AddRectFilled({r.left, level}, {r.right, r.bottom}, imColour(c.accent, kRunningAlpha), rounding,
                       corners & ImDrawFlags_RoundCornersBottom);
    list.AddLine({r.left, level}, {r.right, level}, imColour(c.muted));
}

void paintBox(ImDrawList& list, const DepthPicture& picture, const LayerBox& box)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect r = picture.view.rectToScreen(box.rect);
    if (r.right < 0 || r.left > picture.width || r.bottom < 0 || r.top > picture.height) {
        return;
    }
    const bool selected = box.holdsOneOf(picture.selection.layers);
    const bool hovered = picture.hoveredModule && picture.scene.box(*picture.hoveredModule) == &box;
    const double share = activeShareOf(picture, box);
    const double alpha = share > 0 ? 1.0 : kLeftOutAlpha;
    const bool inStack = box.layer > 0 && box.layer <= picture.scene.layers();
    const float rounding = std::min(kRounding, kRounding * picture.view.zoom());
    const ImDrawFlags corners = cornersOf(picture, box);
    const ImU32 edge = imColour(selected ? c.accent : c.border, selected ? 1.0 : alpha);
    const ImU32 ground = imColour(inStack && !hovered ? c.surface : c.raised, alpha);
    if (box.folded()) { // two more outlines behind it, for the folded layers
        const float step = std::min(4.0F, 5 * picture.view.zoom());
        for (const float aside : {2 * step, step}) {
            list.AddRectFilled({r.left + aside, r.top - aside}, {r.right + aside, r.bottom - aside},
                               imColour(c.background), rounding);
            list.AddRect({r.left + aside, r.top - aside}, {r.right + aside, r.bottom - aside}, imColour(c.border),
                         rounding);
        }
    }
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(c.background), rounding, corners);
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, ground, rounding, corners);
    if (share > 0 && share < 1) {
        paintLeftOut(list, r, share, rounding, corners, c);
    }
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, edge, rounding, corners, selected ? 2.5F : 1.2F);
    paintBoxText(list, box, r, imColour(c.text, alpha), imColour(c.muted, alpha));
    if (box.folded()) {
        paintFoldMark(list, picture, box);
    }
}

// Paints numbers below boxes that are too small for them.
void paintTicks(ImDrawList& list, const DepthPicture& picture)
{
    const auto& boxes = picture.scene.boxes();
    const auto tooSmall = [&picture](const LayerBox& box) {
        return box.rect.width() * picture.view.zoom() < kSmallestLabelledBox;
    };
    if (std::ranges::none_of(boxes, tooSmall)) {
        return;
    }
    const float apart = textWidth(kTextSize, boxes[boxes.size() - 2].title) + 8;
    const float pitch = (boxes.back().rect.right - boxes.front().rect.left) / static_cast<float>(boxes.size());
    const auto every = labelStep(apart / (pitch * picture.view.zoom()));
    const auto last = static_cast<std::int64_t>(boxes.size()) - 1;
    for (std::int64_t i = 0; i <= last; ++i) {
        const LayerBox& box = boxes[static_cast<std::size_t>(i)];
        const Rect r = picture.view.rectToScreen(box.rect);
        const bool beside = i != last && last - i < every; // its number would overlap the head's
        if (tooSmall(box) && ((i % every == 0 && !beside) || i == last)) {
            centredText(list, kTextSize, {r.centre().x, r.bottom + kTickRoom - kTextSize / 2}, 80,
                        imColour(coloursOf(picture).muted), box.title);
        }
    }
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
    // Boxes too small to show gaps are one bar, on which only selected, hovered and left-out layers are marked.
    const ThemeColours& c = coloursOf(picture);
    const Rect r =
        picture.view.rectToScreen({boxes.front().rect.left, 0, boxes.back().rect.right, DepthScene::kBoxHeight});
    list.AddRectFilled({r.left, r.top}, {r.right, std::max(r.bottom, r.top + 3)}, imColour(c.raised));
    list.AddRect({r.left, r.top}, {r.right, std::max(r.bottom, r.top + 3)}, imColour(c.border));
    for (const LayerBox& box : boxes) {
        if (const double share = activeShareOf(picture, box); share < 1) {
            const Rect at = picture.view.rectToScreen(box.rect);
            list.AddRectFilled({at.left, r.top}, {at.right, r.top + static_cast<float>(1 - share) * r.height()},
                               imColour(c.background));
        }
    }
    for (const std::int64_t layer : picture.selection.layers) {
        for (const LayerBox& box : picture.scene.boxesOf(layer)) {
            const float x = picture.view.toScreen(box.rect.centre()).x;
            list.AddRectFilled({x - 1, r.top - 2}, {x + 1, std::max(r.bottom, r.top + 3) + 2}, imColour(c.accent));
        }
    }
}

void paintHandles(ImDrawList& list, const DepthPicture& picture)
{
    // Only at the layer under the pointer.
    const LayerBox* box = picture.hoveredModule ? picture.scene.box(*picture.hoveredModule) : nullptr;
    if (box != nullptr && box->layer <= picture.scene.layers()) {
        const ThemeColours& c = coloursOf(picture);
        const ImVec2 at = vec(picture.view.toScreen(DepthScene::handleOf(*box)));
        const float radius = std::max(4.0F, DepthScene::kHandleRadius * std::min(picture.view.zoom(), 1.2F));
        list.AddCircleFilled(at, radius, imColour(c.accent));
        list.AddCircle(at, radius, imColour(c.surface), 0, 1.5F);
    }
}

std::string titleOfArc(const DepthPicture& picture, const Arc& arc)
{
    if (arc.count > 1) {
        return filled(translate("Canvas", "%1 shortcuts between the same boxes"), {groupedText(arc.count)});
    }
    return titleOf(picture.project, arc.shortcut);
}

std::vector<std::string> describe(const DepthPicture& picture, const Arc& arc)
{
    std::vector<std::string> lines{titleOfArc(picture, arc)};
    switch (arc.kind) {
    case projects::ShortcutKind::Stream:
        lines.push_back(isRunningSum(std::get<projects::DepthMix>(picture.project.stack().topology.wiring))
                            ? translate("Canvas", "residual stream: the sum of all before it")
                            : translate("Canvas", "the newest entry as it is, without a weight"));
        break;
    case projects::ShortcutKind::Fixed:
        lines.push_back(translate("Canvas", "fixed weight"));
        break;
    case projects::ShortcutKind::Frozen:
        lines.push_back(frozenText(picture.project, arc.shortcut));
        break;
    case projects::ShortcutKind::Pruned:
        lines.push_back(translate("Canvas", "pruned"));
        break;
    case projects::ShortcutKind::Learned:
        break;
    }
    if (arc.count > 1) {
        lines.push_back(translate("Canvas", "unfold to see each"));
        return lines;
    }
    if (const std::string effect = effectText(picture.weights, arc.shortcut); !effect.empty()) {
        lines.push_back(effect);
    }
    for (const DepthPort& port : picture.ports) {
        const auto weight = picture.weights.port(port.port).of(arc.shortcut);
        if (weight && port.shown && !picture.weights.areEffects()) {
            const std::string name(nameOf(port.port));
            lines.push_back((name.empty() ? nameOfValue(picture.weights) : name) + " " +
                            textOfValue(picture.weights, *weight));
        }
    }
    return lines;
}

void paintHoverBadge(ImDrawList& list, const DepthPicture& picture)
{
    const Arc* arc = picture.hoveredShortcut ? picture.scene.arc(*picture.hoveredShortcut) : nullptr;
    if (arc != nullptr) {
        paintBadge(list,
                   {picture.view.toScreen(arc->at(0.5F)), describe(picture, *arc), imColour(coloursOf(picture).text)},
                   picture.theme, picture.width, picture.height);
        return;
    }
    if (picture.hoveredLoop) {
        const LoopBracket& loop = picture.scene.loops()[*picture.hoveredLoop];
        const Rect r = picture.view.rectToScreen(loop.rect);
        paintBadge(list,
                   {{std::max(r.left, 0.0F), r.bottom + kLoopBadgeBelow},
                    describe(picture, loop),
                    imColour(coloursOf(picture).text)},
                   picture.theme, picture.width, picture.height);
        return;
    }
    const LayerBox* box = picture.hoveredModule ? picture.scene.box(*picture.hoveredModule) : nullptr;
    if (box != nullptr && box->folded()) {
        paintBadge(list,
                   {picture.view.toScreen({box->rect.right, box->rect.bottom}),
                    {filled(translate("Canvas", "layers %1"), {box->title}),
                     filled(translate("Canvas", "%1 shortcuts inside"), {groupedText(box->inside)})},
                    imColour(coloursOf(picture).text)},
                   picture.theme, picture.width, picture.height);
    }
}

void paintBrackets(ImDrawList& list, const DepthPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    for (const GroupBracket& bracket : picture.scene.brackets()) {
        const Rect r = picture.view.rectToScreen(bracket.rect);
        const float tick = std::min(6.0F, r.height() / 2);
        const ImU32 line = imColour(c.muted);
        list.AddLine({r.left, r.top}, {r.right, r.top}, line, 1.5F);
        list.AddLine({r.left, r.top}, {r.left, r.top - tick}, line, 1.5F);
        list.AddLine({r.right, r.top}, {r.right, r.top - tick}, line, 1.5F);
        // The name stays visible while any part of the bracket is.
        const float left = std::max(r.left, 0.0F);
        const float right = std::min(r.right, picture.width);
        centredText(list, kTextSize, {(left + right) / 2, r.top + 10}, right - left, imColour(c.text),
                    bracket.group.name);
    }
}

/// Paints a line beside the legend that says which arcs are left out.
void paintThinned(ImDrawList& list, const DepthPicture& picture, const ThinnedArcs& thinned)
{
    const std::string text = filled(
        translate("Canvas", "the strongest %1 of %2: at least %3 of the scale; point at a layer for all of its arcs"),
        {groupedText(static_cast<std::int64_t>(thinned.drawn)), groupedText(static_cast<std::int64_t>(thinned.all)),
         percentText(thinned.least)});
    paintText(list, kTextSize, {kRightOfLegend, picture.height - kThinnedAbove}, imColour(coloursOf(picture).muted),
              text);
}

} // namespace

void paintRow(ImDrawList& list, const DepthPicture& picture)
{
    if (picture.scene.chained() && DepthScene::kPitch * picture.view.zoom() >= kSmallestBoxPitch) {
        paintChain(list, picture);
    }
    if (DepthScene::kPitch * picture.view.zoom() >= kSmallestBoxPitch) {
        paintLanes(list, picture);
    }
    paintBoxes(list, picture);
}

void paintDepth(ImDrawList& list, const DepthPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({0, 0}, {picture.width, picture.height}, imColour(c.background));
    if (picture.towers != nullptr && !picture.towers->empty()) {
        paintTowers(list, picture);
    }
    paintArcs(list, picture);
    paintRow(list, picture);
    paintTicks(list, picture);
    paintBrackets(list, picture);
    paintHandles(list, picture);
    const Rect row = picture.view.rectToScreen(picture.scene.bounds());
    if (!picture.scene.note().empty()) {
        centredText(list, kTextSize, {picture.width / 2, row.bottom + 24}, picture.width, imColour(c.muted),
                    picture.scene.note());
    }
    if (picture.scene.layers() == 0) {
        centredText(list, kTitleSize, {picture.width / 2, row.bottom + 40}, picture.width, imColour(c.muted),
                    translate("Canvas", "No layers yet: press Tab and type, for example, 4 mlp"));
    }
    const bool apart = std::ranges::count_if(picture.ports, &DepthPort::shown) > 1 && !picture.weights.areEffects();
    if (picture.weights.empty() || hasWeighedArc(picture)) { // a legend explains colours that are there
        paintLegend(list, picture.weights, picture.theme, picture.height, LiveMeasure::Mean,
                    apart ? Colours::Ports : Colours::Weights);
    }
    if (picture.sheet && picture.thinned) {
        paintThinned(list, picture, *picture.thinned);
    }
    paintHoverBadge(list, picture);
    if (picture.towers != nullptr && !picture.towers->empty()) {
        paintTowerTexts(list, picture);
    }
}

void paintDrag(ImDrawList& list, const DepthPicture& picture, const DragPreview& drag)
{
    const ThemeColours& c = coloursOf(picture);
    const ImU32 colour = imColour(drag.valid || !drag.target ? c.accent : c.error);
    if (drag.target && *drag.target > drag.source) {
        ArcPainter(list, picture.view, picture.width, picture.height)
            .stroke(picture.scene.preview(drag.source, *drag.target), {colour, 2.5F});
    } else if (const LayerBox* box = picture.scene.box(drag.source)) {
        list.AddLine(vec(picture.view.toScreen(DepthScene::handleOf(*box))), vec(drag.pointer), colour, 2.0F);
    }
    paintBadge(list, {drag.pointer, drag.lines, colour}, picture.theme, picture.width, picture.height);
}

void paintDepthOverview(ImDrawList& list, const DepthPicture& picture, const Minimap& map,
                        const std::vector<float>& skyline)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect all = picture.scene.bounds();
    const auto at = [&](const Rect& r) {
        return map.toPanel(r, picture.towers->empty() ? all : picture.towers->bounds());
    };
    const float column = all.width() / static_cast<float>(skyline.size());
    for (std::size_t i = 0; i < skyline.size(); ++i) {
        const float left = all.left + column * static_cast<float>(i);
        const Rect r = at({left, -skyline[i], left + column, 0});
        list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(c.muted, 0.25));
    }
    const Rect row = at({all.left, 0, all.right, DepthScene::kBoxHeight});
    const float bottom = std::max(row.bottom, row.top + 3);
    list.AddRectFilled({row.left, row.top}, {row.right, bottom}, imColour(c.muted, 0.7));
    for (const std::int64_t layer : picture.selection.layers) {
        for (const LayerBox& box : picture.scene.boxesOf(layer)) {
            const Rect r = at(box.rect);
            list.AddRectFilled({r.left, row.top}, {std::max(r.right, r.left + 1), bottom}, imColour(c.accent));
        }
    }
    for (const SmallStack& stack : picture.towers->stacks()) {
        const Rect r = at(stack.placed({0, 0, stack.scene.bounds().right, DepthScene::kBoxHeight}));
        list.AddRectFilled({r.left, r.top}, {r.right, std::max(r.bottom, r.top + 2)}, imColour(c.muted, 0.4));
    }
}

void paintSelectionBox(ImDrawList& list, const DepthPicture& picture, const Rect& screenArea)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom},
                       imColour(c.accent, 0.12));
    list.AddRect({screenArea.left, screenArea.top}, {screenArea.right, screenArea.bottom}, imColour(c.accent));
}

namespace {

using resources::ThemeColours;

constexpr float kChipsBelow = 5; ///< screen pixels from a bracket's line to its controls

bool isSelected(const DepthPicture& picture, const LoopBracket& bracket)
{
    const auto& layers = picture.selection.layers;
    const auto first = layers.find(bracket.first);
    const auto last = layers.find(bracket.last);
    return first != layers.end() && last != layers.end() && std::distance(first, last) == bracket.last - bracket.first;
}

bool isMarked(const DepthPicture& picture, std::size_t bracket)
{
    return picture.hoveredLoop == bracket || isSelected(picture, picture.scene.loops()[bracket]);
}

// Paints an arrow from the end of the last box back to the beginning of the first one.
void paintReturn(ImDrawList& list, const DepthPicture& picture, const LoopBracket& bracket, const Rect& r, ImU32 colour)
{
    const Rect first = picture.view.rectToScreen(picture.scene.boxesOf(bracket.first).front().rect);
    const Rect last = picture.view.rectToScreen(picture.scene.boxesOf(bracket.last).back().rect);
    const float to = first.left + first.width() / 4;
    const float from = last.right - last.width() / 4;
    const float head = std::min(6.0F, (r.top - first.bottom) / 2);
    list.AddLine({from, last.bottom}, {from, r.top}, colour, 2);
    list.AddLine({from, r.top}, {to, r.top}, colour, 2);
    list.AddLine({to, r.top}, {to, first.bottom + head}, colour, 2);
    list.AddTriangleFilled({to, first.bottom + 1}, {to - head * 0.7F, first.bottom + 1 + head},
                           {to + head * 0.7F, first.bottom + 1 + head}, colour);
}

// Paints a line below all visits, with a mark at the beginning of each.
void paintUnfolded(ImDrawList& list, const DepthPicture& picture, const LoopBracket& bracket, const Rect& r,
                   ImU32 colour)
{
    const float tick = std::min(6.0F, r.height() / 2);
    list.AddLine({r.left, r.top}, {r.right, r.top}, colour, 2);
    for (const float x : {r.left, r.right}) {
        list.AddLine({x, r.top}, {x, r.top - tick}, colour, 2);
    }
    for (const float begin : bracket.begins) {
        const float x = picture.view.toScreen({begin, 0}).x - DepthScene::kGap / 2 * picture.view.zoom();
        list.AddLine({x, r.top - tick}, {x, r.top + tick / 2}, colour, 1.5F);
    }
}

} // namespace

std::vector<LoopChip> loopChips(const DepthPicture& picture)
{
    std::vector<LoopChip> chips;
    const auto& loops = picture.scene.loops();
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const Rect r = picture.view.rectToScreen(loops[i].rect);
        const float left = std::max(r.left, 0.0F); // the controls stay in sight while any part of the loop is
        const float right = std::min(r.right, picture.width);
        std::vector<Chip> row = layoutChips({"−", loops[i].visits, "+"}, ChipKind::Choice, {0, r.top + kChipsBelow});
        const auto span = [&row] { return row.back().rect.right - row.front().rect.left; };
        const bool all = isMarked(picture, i) && left < right; // then they may be wider than the loop
        if (picture.isSmall || (!all && span() > right - left)) {
            row = {row[1]};
        }
        if (!all && span() > right - left) {
            continue;
        }
        const float move = (left + right - row.front().rect.left - row.back().rect.right) / 2;
        for (std::size_t at = 0; at < row.size(); ++at) {
            row[at].rect.left += move;
            row[at].rect.right += move;
            chips.push_back({row.size() == 1 ? LoopPart::Visits : static_cast<LoopPart>(at), i, std::move(row[at])});
        }
    }
    return chips;
}

void paintLoops(ImDrawList& list, const DepthPicture& picture, Point pointer)
{
    const ThemeColours& c = resources::themeColours(picture.theme);
    const auto& loops = picture.scene.loops();
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const Rect r = picture.view.rectToScreen(loops[i].rect);
        if (r.right < 0 || r.left > picture.width) {
            continue;
        }
        const ImU32 colour = imColour(isMarked(picture, i) ? c.accent : c.muted);
        loops[i].folded ? paintReturn(list, picture, loops[i], r, colour)
                        : paintUnfolded(list, picture, loops[i], r, colour);
    }
    for (const LoopChip& each : loopChips(picture)) {
        paintChip(list, each.chip, picture.theme, each.chip.rect.contains(pointer));
    }
}

std::vector<std::string> describe(const DepthPicture& picture, const LoopBracket& bracket)
{
    const projects::Loop& loop = picture.project.stack().loops[bracket.loop];
    const std::int64_t stored = loop.last - loop.first + 1;
    return {
        filled(translate("Canvas", "loop of layers %1–%2: %3 visits with the same weights"),
               {std::to_string(loop.first), std::to_string(loop.last), groupedText(loop.visits)}),
        filled(translate("Canvas", "%1 stored, %2 executed"), {groupedText(stored), groupedText(stored * loop.visits)}),
        filled(translate("Canvas", bracket.folded ? "%1 unfolds, − and + change the visits"
                                                  : "%1 folds to the first visit, − and + change the visits"),
               {bracket.visits})};
}

} // namespace residua::editor
