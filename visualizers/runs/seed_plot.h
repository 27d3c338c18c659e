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

/// Runs of one study, that is runs that differ in their seeds alone, as the mean of each number with a band of one
/// standard deviation around it. GUI thread.
class SeedPlot {
public:
    explicit SeedPlot(CurvePlot& plot) : m_plot(plot) {}

    /// The runs of one study, and how they are drawn.
    struct Study {
        std::string key;
        QStringList names;                    ///< of the runs
        std::vector<const RunCurves*> curves; ///< two at least
        std::size_t colour = 0;
        std::size_t place = 0; ///< in the legend
        double flopPerUnit = 1;
    };
    /// What is drawn of each study.
    struct Number {
        std::string metric;
        QString title;      ///< "training"
        bool marks = false; ///< as points of their own, never smoothed
        Qt::PenStyle line = Qt::SolidLine;
    };
    /// Draws these studies in place of what was drawn.
    void show(const std::vector<Study>& studies, const std::vector<Number>& numbers, XAxis axis, double window,
              resources::Theme theme);

private:
    struct Drawn {
        SeedBand band;
        CurvePlot::Id low{};
        CurvePlot::Id high{};
        CurvePlot::Id mean{};
        const Curve* shown = nullptr; ///< the mean's curve that the plot draws; null: none is drawn yet
    };
    using Key = std::pair<std::string, std::string>; ///< study, number

    void draw(Drawn& drawn) const;
    void undraw(Drawn& drawn) const;

    CurvePlot& m_plot;
    std::map<Key, Drawn> m_drawn; ///< they stay where they are: the plot points into them
};

/// What the names of several runs have in common at their beginning, without what separates a last word.
[[nodiscard]] QString commonName(const QStringList& names);

} // namespace residua::visualizers
