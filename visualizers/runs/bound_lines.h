// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/shown_runs.h"

#include <list>
#include <vector>

namespace residua::visualizers {

/// The bounds that theorems put on the losses of overlaid runs, dashed in the colour of their run. GUI thread.
class BoundLines {
public:
    explicit BoundLines(CurvePlot& plot) : m_plot(plot) {}

    struct Bounded {
        CurvePlot::Look look; ///< of the run's curves
        std::vector<ShownRuns::Bound> bounds;
    };
    /// Draws the bounds of these runs, in place of what was drawn.
    void show(const std::vector<Bounded>& runs);
    /// What the bounds claim, a line each; empty where none is drawn.
    [[nodiscard]] QString claims() const { return m_claims.join(QLatin1Char('\n')); }
    /// What lies between them and a run, each sentence once; empty: nothing.
    [[nodiscard]] QString caveats() const { return m_caveats.join(QLatin1Char(' ')); }

private:
    struct Line {
        Curve curve;
        CurvePlot::Id id{};
    };

    CurvePlot& m_plot;
    std::list<Line> m_lines; ///< they stay where they are: the plot points into them
    std::vector<std::pair<CurvePlot::Look, std::size_t>> m_shown; ///< runs, and how many bounds of each
    QStringList m_claims;
    QStringList m_caveats;
};

} // namespace residua::visualizers
