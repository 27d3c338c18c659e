// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/scenes/geometry.h"
#include "resources/colours.h"

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

// Drawing code that the canvases share. Text has a constant size on the screen, so that it is sharp at any zoom.
namespace residua::editor {

inline constexpr float kTitleSize = 15;
inline constexpr float kTextSize = 12;

[[nodiscard]] inline ImVec2 vec(Point p)
{
    return {p.x, p.y};
}
[[nodiscard]] ImU32 imColour(resources::Rgb rgb, double alpha = 1.0);
[[nodiscard]] float textWidth(float size, const std::string& text);
/// Writes text with its top left corner at `at`, on whole pixels.
void paintText(ImDrawList& list, float size, Point at, ImU32 colour, const std::string& text);

/// Returns `text`, cut with an ellipsis to `width`; empty if not even the ellipsis fits.
[[nodiscard]] std::string elided(float size, const std::string& text, float width);
/// Returns `text` in lines of at most `width`, broken between words.
[[nodiscard]] std::vector<std::string> wrapped(float size, const std::string& text, float width);

/// Writes text centred on `centre`, cut with an ellipsis to `width`.
void centredText(ImDrawList& list, float size, Point centre, float width, ImU32 colour, const std::string& text);

/// Paints a sentence in the middle of an empty canvas, in several lines if needed.
void paintNote(ImDrawList& list, const std::string& note, resources::Theme theme, float width, float height);

/// A small panel below and beside `anchor`, kept inside a canvas of `width` by `height`.
struct Badge {
    Point anchor;
    std::vector<std::string> lines;
    ImU32 titleColour = 0; ///< colour of the first line
};
void paintBadge(ImDrawList& list, const Badge& badge, resources::Theme theme, float width, float height);

inline constexpr float kTickRoom = 16; ///< space below a row of boxes for numbers that do not fit inside them

/// A row of toggles.
struct Chip {
    std::string label;
    Rect rect; ///< on the screen
    bool on = false;
    std::optional<resources::Rgb> colour; ///< colour of a dot before the label
};
enum class ChipKind {
    Choice, ///< one of several
    Legend, ///< has a dot of the colour that it shows or hides
};
/// Lays out a row of toggles from `at` to the right.
[[nodiscard]] std::vector<Chip> layoutChips(const std::vector<std::string>& labels, ChipKind kind, Point at);
void paintChip(ImDrawList& list, const Chip& chip, resources::Theme theme, bool hovered);

} // namespace residua::editor
