// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/shown_runs.h"

#include <list>
#include <vector>

namespace residua::visualizers {

/// The theorems' bounds on the losses of overlaid runs, dashed in the colour of their run. GUI thread.
class BoundLines {
public:
    explicit BoundLines(CurvePlot& plot) : m_plot(plot) {}

    struct Bounded {
        CurvePlot::Look look; ///< of the run's curves
        std::vector<ShownRuns::Bound> bounds;
    };
    /// Replaces the drawn bounds by those of these runs.
    void show(const std::vector<Bounded>& runs);
    /// Returns the claims of the bounds, one per line; empty if none is drawn.
    [[nodiscard]] QString claims() const { return m_claims.join(QLatin1Char('\n')); }
    /// Returns the caveats of applying them to runs, each sentence once; may be empty.
    [[nodiscard]] QString caveats() const { return m_caveats.join(QLatin1Char(' ')); }

private:
    struct Line {
        Curve curve;
        CurvePlot::Id id{};
    };

    CurvePlot& m_plot;
    std::list<Line> m_lines; ///< a list, because the plot has pointers to its elements
    std::vector<std::pair<CurvePlot::Look, std::size_t>> m_shown; ///< runs, and the number of bounds of each
    QStringList m_claims;
    QStringList m_caveats;
};

} // namespace residua::visualizers
