// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from report.h, because figures of the terminal use it without a page.

#include "resources/plot.h"

#include <string>
#include <vector>

namespace residua::report {

using resources::AxisScale;
using resources::PlotBand;
using resources::PlotCurve;
using resources::PlotSpec;
using resources::Stroke;

/// At most the highest decades of a logarithmic axis are shown.
inline constexpr double kMostDecades = 16;

/// Returns a line plot as an inline SVG. Accepts any numbers. Long curves are sampled by resources::Curve, so that
/// every spike stays visible; NaN and infinity become crosses along the bottom. A logarithmic axis, which a symmetric
/// one also is here, omits values that are not above 0. Empty if no curve has a point.
[[nodiscard]] std::string svgPlot(const PlotSpec& spec);
/// Plots one below the other as one inline SVG. Plots without a point are left out.
[[nodiscard]] std::string svgPanels(const std::vector<PlotSpec>& specs);
/// The same as a file that any viewer shows: with its namespace, its style and a ground.
[[nodiscard]] std::string svgFile(const std::vector<PlotSpec>& specs);

} // namespace residua::report
