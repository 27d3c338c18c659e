// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/depth/loop_marks.h"

#include "editor/scenes/words.h"
#include "projects/base/text.h"

#include <algorithm>
#include <string>
#include <utility>

namespace residua::editor {
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
        if (!all && span() > right - left) {
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
