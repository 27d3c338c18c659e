// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QString>

#include <vector>

class QCPAbstractItem;
class QCustomPlot;

namespace residua::visualizers {

/// Ranges of a plot's horizontal axis, each from its start to the next one's. Every second one is shaded. A name is at
/// the top of its band and no wider than the band. GUI thread.
class BandMarks {
public:
    struct Band {
        double from = 0;
        QString name;
    };

    explicit BandMarks(QCustomPlot& plot) : m_plot(plot) {}

    void setBands(std::vector<Band> bands) { m_bands = std::move(bands); }
    [[nodiscard]] bool isEmpty() const { return m_bands.empty(); }
    /// Returns the name of the band at `x`, or an empty text outside all bands.
    [[nodiscard]] QString nameAt(double x) const;
    /// Draws the bands anew in a plot that has been laid out.
    void draw(resources::Theme theme);

private:
    void shade(double from, double to, resources::Theme theme);
    void write(const QString& name, double from, double to, resources::Theme theme);

    QCustomPlot& m_plot;
    std::vector<Band> m_bands;
    std::vector<QCPAbstractItem*> m_items;
};

} // namespace residua::visualizers
