// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"

#include <ostream>
#include <string>
#include <vector>

namespace residua::report {

/// The title of a plot and the names of its curves: side by side if there is room, else with the names in rows below
/// it. Long texts are shortened, with the full text in a tooltip, so that nothing overlaps.
class SvgHeading {
public:
    /// Between `left` and `right`, from the top.
    SvgHeading(const PlotSpec& spec, double left, double right);

    /// Returns the y at which the contents below may begin.
    [[nodiscard]] double bottom() const;
    void draw(std::ostream& out) const;

private:
    struct Entry {
        const Curve* curve = nullptr;
        std::string name; ///< as shown
        double x = 0;
        int row = 0; ///< 0: the title's row
        double width = 0;
    };

    void placeBeside(double right);
    void placeBelow(double right);

    std::string m_title;
    std::string m_shown; ///< title as shown
    double m_left;
    std::vector<Entry> m_entries;
    int m_rows = 1;
};

} // namespace residua::report
