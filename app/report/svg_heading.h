// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/report/svg_plot.h"

#include <ostream>
#include <string>
#include <vector>

namespace residua::report {

/// The title of a plot and the names of its curves: beside each other where there is room, else the names in rows of
/// their own below it. Nothing covers anything; what is too long is shortened, whole in a tooltip.
class SvgHeading {
public:
    /// Between `left` and `right`, from the top.
    SvgHeading(const PlotSpec& spec, double left, double right);

    /// Where what comes below may begin.
    [[nodiscard]] double bottom() const;
    void draw(std::ostream& out) const;

private:
    struct Entry {
        const Curve* curve = nullptr;
        std::string name; ///< as it is shown
        double x = 0;
        int row = 0; ///< 0: the title's
        double width = 0;
    };

    void placeBeside(double right);
    void placeBelow(double right);

    std::string m_title;
    std::string m_shown; ///< of the title
    double m_left;
    std::vector<Entry> m_entries;
    int m_rows = 1;
};

} // namespace residua::report
