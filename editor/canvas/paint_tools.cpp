// SPDX-License-Identifier: GPL-3.0-or-later
#include "editor/canvas/paint_tools.h"

#include "editor/scenes/words.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace residua::editor {
namespace {

constexpr float kBadgePadding = 8;
constexpr float kChipHeight = 24;
constexpr float kChipPadding = 11;
constexpr float kChipGap = 6;
constexpr float kDotRadius = 4.5F;
constexpr float kDotGap = 6;

} // namespace

void paintText(ImDrawList& list, float size, Point at, ImU32 colour, const std::string& words)
{
    list.AddText(ImGui::GetFont(), size, {std::round(at.x), std::round(at.y)}, colour, words.c_str());
}

ImU32 imColour(resources::Rgb rgb, double alpha)
{
    return IM_COL32(rgb.r, rgb.g, rgb.b, static_cast<int>(std::lround(255 * std::clamp(alpha, 0.0, 1.0))));
}

float textWidth(float size, const std::string& words)
{
    return ImGui::GetFont()->CalcTextSizeA(size, FLT_MAX, 0, words.c_str()).x;
}

std::string elided(float size, const std::string& words, float width)
{
    return elided(words, width, [size](const std::string& part) { return textWidth(size, part); });
}

std::vector<std::string> wrapped(float size, const std::string& words, float width)
{
    return wrapped(words, width, [size](const std::string& line) { return textWidth(size, line); });
}

void centredText(ImDrawList& list, float size, Point centre, float width, ImU32 colour, const std::string& words)
{
    const std::string shown = elided(size, words, width);
    paintText(list, size, {centre.x - textWidth(size, shown) / 2, centre.y - size / 2}, colour, shown);
}

void paintNote(ImDrawList& list, const std::string& note, resources::Theme theme, float width, float height)
{
    const float room = std::max(80.0F, std::min(width - 64, 520.0F));
    const std::vector<std::string> lines = wrapped(kTitleSize, note, room);
    const float lineHeight = kTitleSize + 7;
    float y = height / 2 - lineHeight * (static_cast<float>(lines.size()) - 1) / 2;
    for (const std::string& line : lines) {
        centredText(list, kTitleSize, {width / 2, y}, width, imColour(resources::themeColours(theme).muted), line);
        y += lineHeight;
    }
}

void paintBadge(ImDrawList& list, const Badge& badge, resources::Theme theme, float width, float height)
{
    const resources::ThemeColours& c = resources::themeColours(theme);
    float inside = 0;
    for (const std::string& line : badge.lines) {
        inside = std::max(inside, textWidth(kTextSize, line));
    }
    const float lineHeight = kTextSize + 4;
    const float tall = lineHeight * static_cast<float>(badge.lines.size()) + 2 * kBadgePadding - 4;
    const float left = std::clamp(badge.anchor.x + 14, 4.0F, std::max(4.0F, width - inside - 2 * kBadgePadding - 4));
    const float top = std::clamp(badge.anchor.y + 14, 4.0F, std::max(4.0F, height - tall - 4));
    const ImVec2 end{left + inside + 2 * kBadgePadding, top + tall};
    list.AddRectFilled({left, top}, end, imColour(c.surface, 0.97), 5);
    list.AddRect({left, top}, end, imColour(c.border), 5);
    float y = top + kBadgePadding - 2;
    for (std::size_t i = 0; i < badge.lines.size(); ++i) {
        paintText(list, kTextSize, {left + kBadgePadding, y}, i == 0 ? badge.titleColour : imColour(c.muted),
                  badge.lines[i]);
        y += lineHeight;
    }
}

std::vector<Chip> layoutChips(const std::vector<std::string>& labels, ChipKind kind, Point at)
{
    const float padding = 2 * kChipPadding + (kind == ChipKind::Legend ? 2 * kDotRadius + kDotGap : 0);
    std::vector<Chip> chips;
    for (const std::string& label : labels) {
        const float width = textWidth(kTextSize, label) + padding;
        chips.push_back({label, {at.x, at.y, at.x + width, at.y + kChipHeight}, false, {}});
        at.x += width + kChipGap;
    }
    return chips;
}

void paintChip(ImDrawList& list, const Chip& chip, resources::Theme theme, bool hovered)
{
    const resources::ThemeColours& c = resources::themeColours(theme);
    const Rect& r = chip.rect;
    const float rounding = r.height() / 2;
    if (chip.colour) {
        list.AddRectFilled({r.left, r.top}, {r.right, r.bottom}, imColour(hovered ? c.raised : c.surface), rounding);
        list.AddRect({r.left, r.top}, {r.right, r.bottom}, imColour(c.border), rounding);
        const ImVec2 dot{r.left + kChipPadding + kDotRadius, r.centre().y};
        chip.on ? list.AddCircleFilled(dot, kDotRadius, imColour(*chip.colour))
                : list.AddCircle(dot, kDotRadius, imColour(c.muted), 0, 1.3F);
        paintText(list, kTextSize, {dot.x + kDotRadius + kDotGap, r.centre().y - kTextSize / 2},
                  imColour(chip.on ? c.text : c.muted), chip.label);
        return;
    }
    list.AddRectFilled({r.left, r.top}, {r.right, r.bottom},
                       imColour(chip.on   ? c.accent
                                : hovered ? c.raised
                                          : c.surface),
                       rounding);
    list.AddRect({r.left, r.top}, {r.right, r.bottom}, imColour(chip.on ? c.accent : c.border), rounding);
    centredText(list, kTextSize, r.centre(), r.width(), imColour(chip.on ? c.onAccent : c.text), chip.label);
}

} // namespace residua::editor
