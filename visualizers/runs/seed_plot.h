// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/plot.h"
#include "visualizers/runs/run_curves.h"
#include "visualizers/runs/seed_band.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace residua::visualizers {

/// Runs of one study, which differ only in their seeds, as the mean of each number with a band of one standard
/// deviation around it. GUI thread.
class SeedPlot {
public:
    /// The runs of one study and their style.
    struct Study {
        std::string key;
        QStringList names;                    ///< of the runs
        std::vector<const RunCurves*> curves; ///< at least two
        std::size_t colour = 0;
        std::size_t place = 0; ///< in the legend
        double flopPerUnit = 1;
    };
    /// The numbers that are drawn of each study.
    struct Number {
        std::string metric;
        std::string title;  ///< "training"
        bool marks = false; ///< drawn as separate points, never smoothed
        resources::Stroke stroke = resources::Stroke::Solid;
    };
    /// Adds the studies to a plot instead of those of the last call, whose curves are no longer valid.
    void addTo(resources::PlotSpec& spec, const std::vector<Study>& studies, const std::vector<Number>& numbers,
               XAxis axis, double window);

private:
    using Key = std::pair<std::string, std::string>; ///< study, number

    std::map<Key, SeedBand> m_bands; ///< a map, because the plot has pointers to its elements
};

} // namespace residua::visualizers
