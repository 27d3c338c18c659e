// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCustomPlot;

namespace residua::visualizers {

/// Stands the `names` of a legend, the longest of so many pixels, below each other; beside each other where that would
/// take too much of the plot's height; and hides it where that takes too much of its width, or there is none.
void arrangeLegend(QCustomPlot& plot, int names, int longest);

/// Moves a plot's legend to a corner where it covers no graph: only when it covers one where it is, and there is such a
/// corner, so that it seldom moves while curves grow. Looks at the graphs as they were last laid out.
void keepLegendClear(QCustomPlot& plot);

} // namespace residua::visualizers
