// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/api/values.h"
#include "resources/colours.h"

#include <string>
#include <vector>

namespace residua::report {

enum class Stroke { Solid, Faint, Dashed, Dotted, Dots };

struct Curve {
    std::string name;                        ///< empty: not in the legend
    std::vector<engine::MetricPoint> points; ///< by ascending step, except for Dots
    Stroke stroke = Stroke::Solid;
    std::size_t colour = 0; ///< resources::curveColour
};

/// Log omits values that are not above 0, and shows at most the highest kMostDecades decades.
enum class AxisScale { Linear, Log };
inline constexpr double kMostDecades = 16;

/// A range of the horizontal axis, from its start to the next band's, with its name on top. Every second band is
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
    double xUnit = 1;             ///< size of one step of a point or band on the horizontal axis
};

/// Returns a line plot as an inline SVG. Accepts any numbers. Long curves are sampled by resources::Curve, so that
/// every spike stays visible; NaN and infinity become crosses along the bottom. Empty if no curve has a point.
[[nodiscard]] std::string svgPlot(const PlotSpec& spec);
/// Plots one below the other as one inline SVG. Plots without a point are left out.
[[nodiscard]] std::string svgPanels(const std::vector<PlotSpec>& specs);
/// The same as a file that any viewer shows: with its namespace, its style and a ground.
[[nodiscard]] std::string svgFile(const std::vector<PlotSpec>& specs);

} // namespace residua::report
