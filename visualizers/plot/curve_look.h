// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "visualizers/plot/plot_legend.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace residua::visualizers {

enum class CurveId : int {};

/// How a curve of a plot is drawn and what it is called.
struct CurveLook {
    QString group = {};    ///< identifies a run or the like: its curves share a line of the legend and of the
                           ///< crosshair; empty: the curve is in neither
    QString name = {};     ///< of the group, for people
    std::size_t place = 0; ///< of the group in the legend, ascending
    QString number = {};   ///< what is drawn, "validation", for the legend; empty: not there
    QString reading = {};  ///< the same beside the crosshair; empty: not there
    resources::Rgb colour = {};
    double alpha = 1;
    double width = 1;
    Qt::PenStyle line = Qt::SolidLine;
    bool marks = false;                 ///< a dot at each point
    bool fits = true;                   ///< the axes are fitted to it, and it counts as something to show
    std::optional<CurveId> fillTo = {}; ///< no line, but the area between this curve and that one
    bool operator==(const CurveLook&) const = default;
};

/// The keys of the entries that a curve has in the legend: that of its group and that of its number.
[[nodiscard]] QString groupKey(const CurveLook& look);
[[nodiscard]] QString numberKey(const CurveLook& look);

/// Returns an entry for each group, in the order of their places, and after them, if there are several numbers, one for
/// each number. `hidden` holds keys.
[[nodiscard]] std::vector<PlotLegend::Entry> legendEntries(std::vector<const CurveLook*> looks,
                                                           const std::set<QString>& hidden, resources::Theme theme);

} // namespace residua::visualizers
