// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/block/block_paint.h"
#include "editor/canvas/paint_tools.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>

// Text on the block canvas. Private to its drawing.
namespace residua::editor {

inline constexpr float kSmallest = 10;  ///< the smallest size of legible text, in pixels
inline constexpr float kLabelSize = 11; ///< the size of shapes and of the line under a name

inline const resources::ThemeColours& coloursOf(const BlockPicture& picture)
{
    return resources::themeColours(picture.theme);
}

inline ImFont* numbers()
{
    const ImFontAtlas& fonts = *ImGui::GetIO().Fonts;
    return fonts.Fonts.Size > 1 ? fonts.Fonts[1] : ImGui::GetFont();
}

inline float widthOf(ImFont& font, float size, const std::string& words)
{
    return font.CalcTextSizeA(size, FLT_MAX, 0, words.c_str()).x;
}

inline void put(ImDrawList& list, ImFont* font, float size, Point at, ImU32 colour, const std::string& words)
{
    list.AddText(font, size, {std::round(at.x), std::round(at.y)}, colour, words.c_str());
}

/// Returns the texts of a node, except its name, that do not fit inside and are drawn beside it. Empty if all fit, or
/// if not even the name fits.
std::string wordsBeside(const BlockPicture& picture, const BlockNode& node);

// Returns a text size that follows the zoom, but shrinks less than the boxes and stays legible.
inline float textSize(const BlockPicture& picture, float atOne)
{
    const float zoom = picture.view.zoom();
    return std::clamp(atOne * (zoom < 1 ? std::sqrt(zoom) : zoom), std::min(kSmallest, atOne), atOne * 1.25F);
}

} // namespace residua::editor
