// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/axis.h"
#include "resources/curve.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace residua::resources {

/// Dots are points without a line.
enum class Stroke { Solid, Faint, Dashed, Dotted, DashDotted, Dots };

enum class AxisScale { Linear, Logarithmic, SymmetricLogarithmic };

/// The window draws all of it; the report draws the first four members.
struct PlotCurve {
    std::string name = {}; ///< in the legend; empty: not there
    Curve points = Curve();
    Stroke stroke = Stroke::Solid;
    std::size_t colour = 0; ///< curveColour

    const Curve* live = nullptr; ///< drawn instead of `points`; it must outlive the plot's description
    std::string group = {};   ///< identifies a run or the like: its curves share the `name`, a line of the legend and
                              ///< of the crosshair; empty: the curve is in neither
    std::size_t place = 0;    ///< position of the group in the legend, ascending
    std::string number = {};  ///< name of the number in the legend, "validation"; empty: not in the legend
    std::string reading = {}; ///< its name beside the crosshair; empty: not there
    double alpha = 1;
    double width = 1;
    bool marks = false;                     ///< a dot at each point
    bool fits = true;                       ///< if true, the axes are fitted to it, and the plot is not empty
    std::optional<std::size_t> fillTo = {}; ///< draws no line, but the area between this curve and that one

    [[nodiscard]] const Curve& drawn() const { return live != nullptr ? *live : points; }
};

/// A theorem's bound on a run's loss, drawn over the curve of it.
struct BoundCurve {
    std::string name = {};   ///< "Theorem 3.3 (ANCRe)"
    std::string claim = {};  ///< one line for people
    Curve points = Curve();  ///< by step
    std::string caveat = {}; ///< limits of applying the theorem to a run, one sentence; may be empty
};

/// A range of the horizontal axis, from its start to the next band's, with its name on top. Every second band is
/// shaded.
struct PlotBand {
    double from = 0;
    std::string name = {};
};

/// A plot, apart from how it is drawn: the report writes it as SVG, and the window shows its curves and bands. UTF-8.
struct PlotSpec {
    std::string title = {};
    std::string xLabel = {};
    std::string yLabel = {};
    std::vector<PlotCurve> curves = {};
    AxisScale yScale = AxisScale::Linear;
    std::vector<PlotBand> bands = {};      ///< ascending
    double xLeast = 1;                     ///< least distance of the horizontal axis's ticks in a report: 1 for counts
    AxisScale xScale = AxisScale::Linear;  ///< never symmetric; linear in a report
    std::string bandTitle = {};            ///< of the bands in the window's legend; empty: they are not in it
    std::optional<AxisRange> yBounds = {}; ///< of the quantity: the vertical axis goes beyond them for values alone
    std::string note = {}; ///< a sentence at the lower left of the window's figure and of its pictures; empty: none
};

} // namespace residua::resources
