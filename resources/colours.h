// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace residua::resources {

/// sRGB, 8 bits per channel.
struct Rgb {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;

    [[nodiscard]] std::string hex() const; ///< "#rrggbb"
    bool operator==(const Rgb&) const = default;
};

enum class Theme { Light, Dark };

/// Every colour of the workbench except data colours. Text has a contrast of at least 4.5 : 1 to its background.
struct ThemeColours {
    Rgb background; ///< behind everything; the canvas
    Rgb surface;    ///< panels, boxes, plots
    Rgb raised;     ///< buttons, headers, hovered rows
    Rgb border;
    Rgb grid; ///< plot grids
    Rgb text;
    Rgb muted;    ///< secondary text
    Rgb accent;   ///< the selection; the only accent colour
    Rgb onAccent; ///< text on the accent colour
    Rgb warning;
    Rgb error;
};
[[nodiscard]] const ThemeColours& themeColours(Theme theme);

/// Perceptually uniform, for probabilities and magnitudes. `t` is clamped to [0, 1]; NaN gives the map's start.
[[nodiscard]] Rgb viridis(double t);
/// The part of viridis that is visible on the theme's background, ordered so that larger values stand out more: bright
/// on dark, dark on light. It begins in grey. Canvas, matrix and heatmap use it for mixing weights.
[[nodiscard]] Rgb magnitude(double t, Theme theme);
/// For signed values about a centre: `t` in [−1, 1]. 0 is grey, which is as visible on the theme's background as the
/// other values. Blue below, orange above.
[[nodiscard]] Rgb diverging(double t, Theme theme);
/// Returns the colour of the n-th curve of an overlay. The colours can be distinguished with red-green blindness.
[[nodiscard]] Rgb curveColour(std::size_t n, Theme theme);

} // namespace residua::resources
