// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"
#include "resources/colours.h"

#include <string>
#include <vector>

namespace residua::report {

enum class Stroke { Solid, Faint, Dashed, Dotted, Dots };

struct Curve {
    std::string name;                        ///< empty: not in the legend
    std::vector<engine::MetricPoint> points; ///< by ascending step, but for those of Dots
    Stroke stroke = Stroke::Solid;
    std::size_t colour = 0; ///< resources::curveColour
};

/// Log: what is not above 0 is left out, and at most kMostDecades show, the highest.
enum class AxisScale { Linear, Log };
inline constexpr double kMostDecades = 16;

/// A stretch of the horizontal axis, from its start to the next band's, with its name on top. Every other band is
/// shaded.
struct Band {
    std::int64_t from = 0;
    std::string name;
};

struct PlotSpec {
    std::string title;
    std::string xLabel;
    std::string yLabel;
    std::vector<Curve> curves;
    AxisScale yScale = AxisScale::Linear;
    std::vector<Band> bands = {}; ///< ascending
    double xUnit = 1;             ///< what one of a point's steps, and of a band's, counts on the horizontal axis
};

/// A line plot as an inline SVG, of any numbers whatever. Long curves are drawn as resources::Curve samples them, so
/// that every spike stays; NaN and infinity become crosses along the bottom. Empty where no curve has a point.
[[nodiscard]] std::string svgPlot(const PlotSpec& spec);
/// Plots one below the other as one inline SVG. Plots without a point are left out.
[[nodiscard]] std::string svgPanels(const std::vector<PlotSpec>& specs);
/// The same as a file that any viewer shows: with its namespace, its style and a ground.
[[nodiscard]] std::string svgFile(const std::vector<PlotSpec>& specs);

} // namespace residua::report
