// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/runs/run_curves.h"
#include "visualizers/runs/seed_band.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace residua::visualizers {

/// Runs of one study, which differ only in their seeds, as the mean of each number with a band of one standard
/// deviation around it. GUI thread.
class SeedPlot {
public:
    explicit SeedPlot(CurvePlot& plot) : m_plot(plot) {}

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
        QString title;      ///< "training"
        bool marks = false; ///< drawn as separate points, never smoothed
        Qt::PenStyle line = Qt::SolidLine;
    };
    /// Replaces the drawn studies.
    void show(const std::vector<Study>& studies, const std::vector<Number>& numbers, XAxis axis, double window,
              resources::Theme theme);

private:
    struct Drawn {
        SeedBand band;
        CurvePlot::Id low{};
        CurvePlot::Id high{};
        CurvePlot::Id mean{};
        const Curve* shown = nullptr; ///< the mean's curve that the plot draws; null: not drawn yet
    };
    using Key = std::pair<std::string, std::string>; ///< study, number

    void draw(Drawn& drawn) const;
    void undraw(Drawn& drawn) const;

    CurvePlot& m_plot;
    std::map<Key, Drawn> m_drawn; ///< a map, because the plot has pointers to its elements
};

} // namespace residua::visualizers
