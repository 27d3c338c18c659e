// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/matrix_paint.h"

#include "editor/shortcuts.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

using projects::Shortcut;
using resources::ThemeColours;

constexpr float kSmallestCell = 3;    ///< screen pixels; smaller ones are drawn as blocks of several
constexpr float kSmallestMarked = 10; ///< with a mark for frozen and pruned
constexpr float kSmallestNumbered = 38;
constexpr float kLabelRoom = 26; ///< between two labels of an axis

const ThemeColours& coloursOf(const MatrixPicture& picture)
{
    return resources::themeColours(picture.theme);
}

struct Fill {
    ImU32 colour = 0;
    double strength = -1; ///< which cell of a block stands for it: the strongest
    resources::Rgb rgb;
};

Fill fillOf(const MatrixPicture& picture, const Shortcut& shortcut)
{
    const ThemeColours& c = coloursOf(picture);
    const MatrixCell cell = picture.scene.cell(shortcut);
    const double alpha = picture.weights.isActive(shortcut.target) ? 1.0 : 0.35;
    if (isRead(cell)) {
        if (const auto weight = picture.weights.port(picture.port).of(shortcut)) {
            const WeightScale& scale = picture.weights.scale();
            const resources::Rgb rgb = scale.colour(*weight, picture.theme);
            return {imColour(rgb, alpha), 1 + scale.strength(*weight), rgb};
        }
    }
    switch (cell) {
    case MatrixCell::Outside:
        return {};
    case MatrixCell::Empty:
    case MatrixCell::Pruned:
        return {imColour(c.surface), 0, c.surface};
    case MatrixCell::Summed:
        return {imColour(c.muted, 0.15), 0.1, c.muted};
    case MatrixCell::Fixed:
        return {imColour(c.muted, 0.45 * alpha), 0.2, c.muted};
    case MatrixCell::Learned:
    case MatrixCell::Frozen:
        break;
    }
    const resources::Rgb learned = resources::curveColour(0, picture.theme);
    return {imColour(learned, 0.45 * alpha), 0.3, learned};
}

// Black or white, whichever reads better on the cell.
ImU32 inkOn(resources::Rgb ground)
{
    const int light = 299 * ground.r + 587 * ground.g + 114 * ground.b;
    return light > 140000 ? IM_COL32(10, 14, 22, 255) : IM_COL32(255, 255, 255, 255);
}

void paintMarks(ImDrawList& list, const MatrixPicture& picture, const Shortcut& shortcut, const Rect& r)
{
    const ThemeColours& c = coloursOf(picture);
    const float size = r.right - r.left;
    const Point centre = r.centre();
    switch (picture.scene.cell(shortcut)) {
    case MatrixCell::Pruned: {
        const float arm = size * 0.2F;
        list.AddLine({centre.x - arm, centre.y - arm}, {centre.x + arm, centre.y + arm}, imColour(c.muted), 1.3F);
        list.AddLine({centre.x - arm, centre.y + arm}, {centre.x + arm, centre.y - arm}, imColour(c.muted), 1.3F);
        break;
    }
    case MatrixCell::Frozen: {
        const float side = std::min(size * 0.32F, 9.0F);
        list.AddTriangleFilled({r.right - side - 1, r.top + 1}, {r.right - 1, r.top + 1},
                               {r.right - 1, r.top + side + 1}, imColour(c.text));
        break;
    }
    case MatrixCell::Summed:
        list.AddLine({r.left + 3, r.bottom - 3}, {r.right - 3, r.top + 3}, imColour(c.muted, 0.5), 1.0F);
        break;
    case MatrixCell::Outside:
    case MatrixCell::Empty:
    case MatrixCell::Fixed:
    case MatrixCell::Learned:
        break;
    }
    if (size >= kSmallestNumbered && isRead(picture.scene.cell(shortcut))) {
        if (const auto weight = picture.weights.port(picture.port).of(shortcut)) {
            centredText(list, kTextSize, centre, size - 4, inkOn(fillOf(picture, shortcut).rgb), shortNumber(*weight));
        }
    }
}

// The strongest of a block of cells stands for all of them: none is sampled away.
void paintBlock(ImDrawList& list, const MatrixPicture& picture, const Shortcut& first, std::int64_t side)
{
    Fill strongest;
    Shortcut last = first;
    for (std::int64_t target = first.target; target < first.target + side; ++target) {
        for (std::int64_t source = first.source; source < first.source + side; ++source) {
            const Fill fill = fillOf(picture, {source, target});
            if (fill.strength > strongest.strength) {
                strongest = fill;
            }
        }
    }
    last = {std::min(first.source + side, picture.scene.size()) - 1,
            std::min(first.target + side - 1, picture.scene.size())};
    if (strongest.strength < 0) {
        return;
    }
    const Rect from = picture.view.rectToScreen(picture.scene.rectOf(first));
    const Rect to = picture.view.rectToScreen(picture.scene.rectOf(last));
    list.AddRectFilled({from.left, from.top}, {to.right, to.bottom}, strongest.colour);
}

void paintCell(ImDrawList& list, const MatrixPicture& picture, const Shortcut& shortcut)
{
    const Fill fill = fillOf(picture, shortcut);
    if (fill.strength < 0) {
        return;
    }
    const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
    const float gap = r.right - r.left > 8 ? 1.0F : 0.0F;
    list.AddRectFilled({r.left + gap, r.top + gap}, {r.right - gap, r.bottom - gap}, fill.colour, gap * 2);
    if (r.right - r.left >= kSmallestMarked) {
        paintMarks(list, picture, shortcut, r);
    }
}

void paintCells(ImDrawList& list, const MatrixPicture& picture)
{
    const Rect seen = picture.view.visible(picture.width, picture.height);
    const auto columns = picture.scene.columnsIn(seen.left, seen.right);
    const auto targets = picture.scene.targetsIn(seen.top, seen.bottom);
    const float size = MatrixScene::kCell * picture.view.zoom();
    const auto side = static_cast<std::int64_t>(std::ceil(kSmallestCell / size));
    // Blocks begin at multiples of their side, so that they do not flicker while the view moves.
    const std::int64_t firstTarget = (targets.first - 1) / side * side + 1;
    for (std::int64_t target = firstTarget; target <= targets.last; target += side) {
        for (std::int64_t source = columns.first / side * side; source <= columns.last; source += side) {
            if (source >= target + side) {
                break; // above the diagonal
            }
            if (side > 1) {
                paintBlock(list, picture, {source, target}, side);
            } else {
                paintCell(list, picture, {source, target});
            }
        }
    }
}

void outline(ImDrawList& list, const MatrixPicture& picture, const Shortcut& shortcut, ImU32 colour, float width)
{
    const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
    const float grow = std::max(0.0F, (6 - (r.right - r.left)) / 2); // a cell of a pixel is still to be found
    list.AddRect({r.left - grow, r.top - grow}, {r.right + grow, r.bottom + grow}, colour, 2, 0, width);
}

// The hovered cell's row and column, so that the eye finds its layers.
void paintCross(ImDrawList& list, const MatrixPicture& picture, const Shortcut& shortcut)
{
    const ImU32 tint = imColour(coloursOf(picture).accent, 0.10);
    const Rect all = picture.view.rectToScreen(picture.scene.bounds());
    const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
    list.AddRectFilled({all.left, r.top}, {r.right, r.bottom}, tint);
    list.AddRectFilled({r.left, r.top}, {r.right, all.bottom}, tint);
}

void paintAxes(ImDrawList& list, const MatrixPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    const Rect all = picture.view.rectToScreen(picture.scene.bounds());
    const Rect seen = picture.view.visible(picture.width, picture.height);
    const float size = MatrixScene::kCell * picture.view.zoom();
    const auto every = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(kLabelRoom / size)));
    // Numbers stay in sight when the grid's edge does not.
    const float left = std::max(all.left, kMatrixAxis);
    const float top = std::max(all.top, kMatrixTop);
    list.AddRectFilled({0, 0}, {left - 2, picture.height}, imColour(c.background, 0.92));
    list.AddRectFilled({left - 2, 0}, {picture.width, top - 2}, imColour(c.background, 0.92));
    const auto ink = [&](bool marked) { return imColour(marked ? c.accent : c.muted); };
    const auto columns = picture.scene.columnsIn(seen.left, seen.right);
    for (std::int64_t i = columns.first; i <= columns.last; ++i) {
        const bool marked = picture.hovered && picture.hovered->source == i;
        const Point at = picture.view.rectToScreen(picture.scene.rectOf({i, 1})).centre();
        if (at.x >= left && (marked || i % every == 0)) {
            centredText(list, kTextSize, {at.x, top - 12}, 2 * kLabelRoom, ink(marked), std::to_string(i));
        }
    }
    const auto targets = picture.scene.targetsIn(seen.top, seen.bottom);
    for (std::int64_t j = targets.first; j <= targets.last; ++j) {
        const bool final = j == picture.scene.size();
        const bool marked = picture.hovered && picture.hovered->target == j;
        const bool beside = picture.scene.size() - j < every && !final; // would run into "out"
        const Point at = picture.view.rectToScreen(picture.scene.rectOf({0, j})).centre();
        if (at.y >= top && (marked || final || (j % every == 0 && !beside))) {
            centredText(list, kTextSize, {left - 20, at.y}, 2 * kLabelRoom, ink(marked),
                        final ? std::string("out") : std::to_string(j));
        }
    }
    const float middle =
        std::clamp((std::max(all.left, left) + std::min(all.right, picture.width)) / 2, left, picture.width);
    centredText(list, kTextSize, {middle, top - 30}, 200, imColour(c.text), "source i");
    centredText(list, kTextSize, {left - 24, top - 12}, 60, imColour(c.text), "target j");
}

std::vector<std::string> describe(const MatrixPicture& picture, const Shortcut& shortcut)
{
    const std::string name = nameOf(shortcut);
    std::vector<std::string> lines{picture.port.empty() ? name : name + "  (" + picture.port + ")"};
    switch (picture.scene.cell(shortcut)) {
    case MatrixCell::Empty:
        lines.emplace_back("not read: click or drag to add");
        break;
    case MatrixCell::Summed:
        lines.emplace_back("read inside the sum of the middle");
        break;
    case MatrixCell::Pruned:
        lines.emplace_back("pruned: click to bring it back");
        break;
    case MatrixCell::Frozen:
        lines.emplace_back("frozen");
        break;
    case MatrixCell::Fixed:
        lines.emplace_back("fixed weight");
        break;
    case MatrixCell::Learned:
        lines.emplace_back("learned weight");
        break;
    case MatrixCell::Outside:
        break;
    }
    if (const auto weight = picture.weights.port(picture.port).of(shortcut)) {
        lines.push_back("weight " + shortNumber(*weight));
    }
    return lines;
}

void paintAttention(ImDrawList& list, const MatrixPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    for (const Shortcut& shortcut : picture.selection.shortcuts) {
        if (picture.scene.cell(shortcut) != MatrixCell::Outside) {
            outline(list, picture, shortcut, imColour(c.accent), 2);
        }
    }
    const bool adds = picture.stroke.does == MatrixStroke::Does::Add;
    for (const Shortcut& shortcut : picture.stroke.cells) {
        const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
        list.AddRectFilled({r.left, r.top}, {r.right, r.bottom},
                           adds ? imColour(c.accent, 0.6) : imColour(c.surface, 0.8), 2);
        outline(list, picture, shortcut, imColour(c.accent), 1);
    }
    if (picture.cursor) {
        outline(list, picture, *picture.cursor, imColour(c.text), 2);
    }
    if (picture.hovered && picture.scene.cell(*picture.hovered) != MatrixCell::Outside) {
        outline(list, picture, *picture.hovered, imColour(c.text), 1.5F);
    }
}

} // namespace

void paintMatrix(ImDrawList& list, const MatrixPicture& picture)
{
    const ThemeColours& c = coloursOf(picture);
    list.AddRectFilled({0, 0}, {picture.width, picture.height}, imColour(c.background));
    if (!picture.scene.note().empty()) {
        paintNote(list, picture.scene.note(), picture.theme, picture.width, picture.height);
        return;
    }
    if (picture.hovered && picture.scene.cell(*picture.hovered) != MatrixCell::Outside) {
        paintCross(list, picture, *picture.hovered);
    }
    paintCells(list, picture);
    paintAttention(list, picture);
    paintAxes(list, picture);
    paintLegend(list, picture.weights, picture.theme, picture.height);
    const auto told = picture.hovered ? picture.hovered : picture.cursor;
    if (told && picture.stroke.cells.empty() && picture.scene.cell(*told) != MatrixCell::Outside) {
        const Rect r = picture.view.rectToScreen(picture.scene.rectOf(*told));
        paintBadge(list, {{r.right - 8, r.bottom - 8}, describe(picture, *told), imColour(c.text)}, picture.theme,
                   picture.width, picture.height);
    }
}

} // namespace residua::editor
