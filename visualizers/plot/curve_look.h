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

/// The style and the names of a curve of a plot.
struct CurveLook {
    QString group = {};    ///< identifies a run or the like: its curves share a line of the legend and of the
                           ///< crosshair; empty: the curve is in neither
    QString name = {};     ///< name of the group
    std::size_t place = 0; ///< position of the group in the legend, ascending
    QString number = {};   ///< name of the number in the legend, "validation"; empty: not in the legend
    QString reading = {};  ///< its name beside the crosshair; empty: not there
    resources::Rgb colour = {};
    double alpha = 1;
    double width = 1;
    Qt::PenStyle line = Qt::SolidLine;
    bool marks = false;                 ///< a dot at each point
    bool fits = true;                   ///< if true, the axes are fitted to it, and the plot is not empty
    std::optional<CurveId> fillTo = {}; ///< draws no line, but the area between this curve and that one
    bool operator==(const CurveLook&) const = default;
};

/// Return the keys of the curve's entries in the legend: that of its group and that of its number.
[[nodiscard]] QString groupKey(const CurveLook& look);
[[nodiscard]] QString numberKey(const CurveLook& look);

/// Returns an entry for each group, in the order of their places, and after them, if there are several numbers, one for
/// each number. `hidden` holds keys.
[[nodiscard]] std::vector<PlotLegend::Entry> legendEntries(std::vector<const CurveLook*> looks,
                                                           const std::set<QString>& hidden, resources::Theme theme);

} // namespace residua::visualizers
