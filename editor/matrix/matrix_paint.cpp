// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/matrix/matrix_paint.h"

#include "editor/scenes/matrix_fills.h"
#include "editor/scenes/words.h"
#include "editor/shortcuts/port_row.h"
#include "projects/depth/depth_names.h"

#include <algorithm>
#include <cmath>

namespace residua::editor {
namespace {

using projects::Shortcut;
using resources::ThemeColours;

constexpr float kSmallestCell = 4;    ///< screen pixels; smaller cells are drawn as blocks of several
constexpr float kSmallestMarked = 10; ///< marks frozen and pruned cells from this size on
constexpr float kSmallestNumbered = 38;
constexpr float kSmallestRounded = 16;
constexpr float kLabelGap = 2; ///< between two labels of an axis

const ThemeColours& coloursOf(const MatrixPicture& picture)
{
    return resources::themeColours(picture.theme);
}

ImU32 fillOf(const CellFills& fills, const Shortcut& shortcut)
{
    return imColour(fills.colourOf(shortcut), fills.opacityOf(shortcut));
}

void paintMarks(ImDrawList& list, const MatrixPicture& picture, const CellFills& fills, const Shortcut& shortcut,
                const Rect& r)
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
        if (const auto weight = fills.weightOf(shortcut)) {
            centredText(list, kTextSize, centre, size - 4, imColour(inkOn(fills.colourOf(shortcut))),
                        textOfValue(picture.weights, *weight, picture.measure));
        }
    }
}

// Returns the colour of the block's strongest cell.
ImU32 colourOfBlock(const CellFills& fills, const Shortcut& first, std::int64_t side)
{
    Shortcut strongest = first;
    double most = -1;
    for (std::int64_t target = first.target; target < first.target + side; ++target) {
        for (std::int64_t source = first.source; source < std::min(first.source + side, target); ++source) {
            if (const double strength = fills.strengthOf({source, target}); strength > most) {
                most = strength;
                strongest = {source, target};
            }
        }
    }
    return most < 0 ? 0 : fillOf(fills, strongest);
}

void refresh(MatrixBlocks& blocks, const MatrixPicture& picture, const CellFills& fills, std::int64_t side)
{
    const std::tuple of{
        side, picture.port, picture.measure, picture.theme, picture.weights.revision(), picture.scene.revision()};
    if (blocks.of == of) {
        return;
    }
    blocks.of = of;
    const std::int64_t across = (picture.scene.size() + side - 1) / side;
    blocks.colours.assign(static_cast<std::size_t>(across * across), 0);
    for (std::int64_t row = 0; row < across; ++row) {
        for (std::int64_t column = 0; column <= row; ++column) {
            blocks.colours[static_cast<std::size_t>(row * across + column)] =
                colourOfBlock(fills, {column * side, row * side + 1}, side);
        }
    }
}

void paintBlock(ImDrawList& list, const MatrixPicture& picture, const Shortcut& first, std::int64_t side)
{
    const std::int64_t across = (picture.scene.size() + side - 1) / side;
    const ImU32 colour =
        picture.blocks.colours[static_cast<std::size_t>((first.target - 1) / side * across + first.source / side)];
    if (colour == 0) {
        return;
    }
    const Shortcut last{std::min(first.source + side, picture.scene.size()) - 1,
                        std::min(first.target + side - 1, picture.scene.size())};
    const Rect from = picture.view.rectToScreen(picture.scene.rectOf(first));
    const Rect to = picture.view.rectToScreen(picture.scene.rectOf(last));
    list.AddRectFilled({from.left, from.top}, {to.right, to.bottom}, colour);
}

void paintCell(ImDrawList& list, const MatrixPicture& picture, const CellFills& fills, const Shortcut& shortcut)
{
    if (picture.scene.cell(shortcut) == MatrixCell::Outside) {
        return;
    }
    const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
    const float gap = r.width() > 8 ? 1.0F : 0.0F;
    list.AddRectFilled({r.left + gap, r.top + gap}, {r.right - gap, r.bottom - gap}, fillOf(fills, shortcut),
                       r.width() >= kSmallestRounded ? 2.0F : 0.0F);
    if (r.width() >= kSmallestMarked) {
        paintMarks(list, picture, fills, shortcut, r);
    }
}

void paintCells(ImDrawList& list, const MatrixPicture& picture)
{
    const Rect seen = picture.view.visible(picture.width, picture.height);
    const auto columns = picture.scene.columnsIn(seen.left, seen.right);
    const auto targets = picture.scene.targetsIn(seen.top, seen.bottom);
    const float size = MatrixScene::kCell * picture.view.zoom();
    const auto side = static_cast<std::int64_t>(std::ceil(kSmallestCell / size));
    const CellFills fills(
        {picture.scene, picture.weights, picture.project, picture.port, picture.measure, picture.theme});
    if (side > 1) {
        refresh(picture.blocks, picture, fills, side);
    }
    // Blocks begin at multiples of their side, so that they do not flicker while the view moves.
    const std::int64_t firstTarget = (targets.first - 1) / side * side + 1;
    for (std::int64_t target = firstTarget; target <= targets.last; target += side) {
        const std::int64_t last = std::min(columns.last, target + side - 2); // no further than the diagonal
        for (std::int64_t source = columns.first / side * side; source <= last; source += side) {
            if (side > 1) {
                paintBlock(list, picture, {source, target}, side);
            } else {
                paintCell(list, picture, fills, {source, target});
            }
        }
    }
}

void outline(ImDrawList& list, const MatrixPicture& picture, const Shortcut& shortcut, ImU32 colour, float width)
{
    const Rect r = picture.view.rectToScreen(picture.scene.rectOf(shortcut));
    const float grow = std::max(0.0F, (6 - (r.right - r.left)) / 2); // a cell of one pixel is still visible
    list.AddRect({r.left - grow, r.top - grow}, {r.right + grow, r.bottom + grow}, colour, 2, 0, width);
}

// Highlights the hovered cell's row and column.
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
    // Numbers stay visible when the grid's edge is not.
    const float left = std::max(all.left, kMatrixAxis);
    const float top = std::max(all.top, picture.top);
    list.AddRectFilled({0, 0}, {left - 2, picture.height}, imColour(c.background, 0.92));
    list.AddRectFilled({left - 2, 0}, {picture.width, top - 2}, imColour(c.background, 0.92));
    const auto ink = [&](bool marked) { return imColour(marked ? c.accent : c.muted); };
    const std::int64_t last = picture.scene.size();
    const auto columns = picture.scene.columnsIn(seen.left, seen.right);
    const auto widthOf = [&](std::int64_t i) { return textWidth(kTextSize, entryName(picture.project, i)); };
    const std::int64_t newest = picture.scene.columns() - 1; // modules that share entries have fewer entries
    const float widest = std::max(widthOf(newest), widthOf(std::max<std::int64_t>(newest - 1, 0))) + kLabelGap;
    const std::int64_t everyColumn = labelStep(widest / size);
    for (std::int64_t i = columns.first; i <= columns.last; ++i) {
        const bool marked = picture.hovered && picture.hovered->source == i;
        const Point at = picture.view.rectToScreen(picture.scene.rectOf({i, 1})).centre();
        if (at.x >= left && (marked || i % everyColumn == 0)) {
            centredText(list, kTextSize, {at.x, top - 12}, kMatrixAxis, ink(marked), entryName(picture.project, i));
        }
    }
    const auto targets = picture.scene.targetsIn(seen.top, seen.bottom);
    const std::int64_t everyRow = labelStep((kTextSize + 2) / size);
    for (std::int64_t j = targets.first; j <= targets.last; ++j) {
        const bool marked = picture.hovered && picture.hovered->target == j;
        const bool beside = j != last && last - j < everyRow; // its number would overlap the last one's
        const Point at = picture.view.rectToScreen(picture.scene.rectOf({0, j})).centre();
        if (at.y >= top && (marked || j == last || (j % everyRow == 0 && !beside))) {
            const std::string name = moduleName(picture.project, j);
            centredText(list, kTextSize, {left - 10 - textWidth(kTextSize, name) / 2, at.y}, kMatrixAxis, ink(marked),
                        name);
        }
    }
    const float middle =
        std::clamp((std::max(all.left, left) + std::min(all.right, picture.width)) / 2, left, picture.width);
    centredText(list, kTextSize, {middle, top - 30}, 200, imColour(c.text), translate("Canvas", "source i"));
    const std::string target = translate("Canvas", "target j");
    const float end = left - 10 - textWidth(kTextSize, target) / 2; // aligned with the numbers below it
    centredText(list, kTextSize, {end, top - 12}, 60, imColour(c.text), target);
}

/// Describes an entry that is read without a weight of its own.
std::string summedText(const projects::DepthMix& mix, const Shortcut& shortcut, std::int64_t depth)
{
    if (isRunningSum(mix)) {
        return translate("Canvas", "read in the running sum: click to give it a learned weight");
    }
    return passesNewest(mix, shortcut.target, depth)
               ? translate("Canvas", "read as it is, without a weight: click to weigh it")
               : translate("Canvas", "read inside the sum of the middle");
}

std::vector<std::string> describe(const MatrixPicture& picture, const Shortcut& shortcut)
{
    const std::string name = titleOf(picture.project, shortcut);
    const std::string port(nameOf(picture.port));
    std::vector<std::string> lines{port.empty() ? name : name + "  " + port};
    switch (picture.scene.cell(shortcut)) {
    case MatrixCell::Empty:
        lines.push_back(translate("Canvas", "not read: click or drag to add"));
        break;
    case MatrixCell::Summed:
        lines.push_back(summedText(std::get<projects::DepthMix>(picture.project.stack().topology.wiring), shortcut,
                                   picture.scene.depth()));
        break;
    case MatrixCell::Pruned:
        lines.push_back(translate("Canvas", "pruned: click to bring it back"));
        break;
    case MatrixCell::Frozen:
        lines.push_back(frozenText(picture.project, shortcut));
        break;
    case MatrixCell::Fixed:
        lines.push_back(translate("Canvas", "fixed weight"));
        break;
    case MatrixCell::Learned:
        lines.push_back(translate("Canvas", "learned weight"));
        break;
    case MatrixCell::Outside:
        break;
    }
    if (const std::string effect = effectText(picture.weights, shortcut); !effect.empty()) {
        lines.push_back(effect);
    }
    const bool told = picture.weights.areEffects() && picture.measure == LiveMeasure::Mean;
    if (const auto weight = picture.weights.port(picture.port, picture.measure).of(shortcut); weight && !told) {
        lines.push_back(nameOfValue(picture.weights, picture.measure) + " " +
                        textOfValue(picture.weights, *weight, picture.measure));
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

/// Paints the meaning of the hatched cells.
void paintKey(ImDrawList& list, const MatrixPicture& picture)
{
    constexpr float kSide = 14;
    const ThemeColours& c = coloursOf(picture);
    const auto& mix = std::get<projects::DepthMix>(picture.project.stack().topology.wiring);
    const std::string text = isRunningSum(mix) ? translate("Canvas", "in the running sum, without a weight of its own")
                                               : translate("Canvas", "read without a weight of its own");
    const float left = picture.weights.empty() ? 16 : kRightOfLegend;
    const float top = picture.height - 28;
    list.AddRectFilled({left - 8, top - 4}, {left + kSide + 16 + textWidth(kTextSize, text), picture.height - 8},
                       imColour(c.background, 0.85), 5);
    list.AddRectFilled({left, top}, {left + kSide, top + kSide}, imColour(c.muted, kSummedAlpha), 2);
    list.AddLine({left + 3, top + kSide - 3}, {left + kSide - 3, top + 3}, imColour(c.muted, 0.5), 1.0F);
    paintText(list, kTextSize, {left + kSide + 8, top}, imColour(c.muted), text);
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
    paintLegend(list, picture.weights, picture.theme, picture.height, picture.measure);
    if (picture.scene.hasSummed()) {
        paintKey(list, picture);
    }
    const auto told = picture.hovered ? picture.hovered : picture.cursor;
    if (told && picture.stroke.cells.empty() && picture.scene.cell(*told) != MatrixCell::Outside) {
        const Rect r = picture.view.rectToScreen(picture.scene.rectOf(*told));
        paintBadge(list, {{r.right - 8, r.bottom - 8}, describe(picture, *told), imColour(c.text)}, picture.theme,
                   picture.width, picture.height);
    }
}

} // namespace residua::editor
