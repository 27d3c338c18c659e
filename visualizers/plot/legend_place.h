// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QCustomPlot;

namespace residua::visualizers {

/// Moves a plot's legend to a corner where it covers no graph: only when it covers one where it is, and there is such a
/// corner, so that it seldom moves while curves grow. Looks at the graphs as they were last laid out.
void keepLegendClear(QCustomPlot& plot);

} // namespace residua::visualizers
