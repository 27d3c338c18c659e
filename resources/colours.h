// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace residua::resources {

/// sRGB, 8 bits a channel.
struct Rgb {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;

    [[nodiscard]] std::string hex() const; ///< "#rrggbb"
    bool operator==(const Rgb&) const = default;
};

enum class Theme { Light, Dark };

/// Every colour of the workbench that is not data. Text on its ground has a contrast of at least 4.5 : 1.
struct ThemeColours {
    Rgb background; ///< behind everything; the canvas
    Rgb surface;    ///< panels, boxes, plots
    Rgb raised;     ///< buttons, headers, hovered rows
    Rgb border;
    Rgb grid; ///< plot grids
    Rgb text;
    Rgb muted;    ///< secondary text
    Rgb accent;   ///< the selection: the one accent colour
    Rgb onAccent; ///< text on it
    Rgb warning;
    Rgb error;
};
[[nodiscard]] const ThemeColours& themeColours(Theme theme);

/// Perceptually even, for probabilities and magnitudes. `t` is clamped to [0, 1]; NaN gives the map's start.
[[nodiscard]] Rgb viridis(double t);
/// The part of viridis that stands out from the theme's grounds, turned so that more stands out more: bright on a dark
/// ground, dark on a light one. It begins in grey. Canvas, matrix and heatmap share it for mixing weights.
[[nodiscard]] Rgb magnitude(double t, Theme theme);
/// For signed values about a centre: `t` in [−1, 1]; 0 is grey, which stands out from the theme's grounds as every
/// other value does. Blue below, orange above.
[[nodiscard]] Rgb diverging(double t, Theme theme);
/// The colour of the n-th curve of an overlay, distinguishable without telling red from green.
[[nodiscard]] Rgb curveColour(std::size_t n, Theme theme);

} // namespace residua::resources
