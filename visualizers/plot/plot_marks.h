// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/plot.h"

#include <QString>

#include <vector>

class QCPAbstractItem;
class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

/// Ranges of a plot's horizontal axis, each from its start to the next one's. Every second one is shaded. A name is at
/// the top of its band and no wider than the band. GUI thread.
class BandMarks {
public:
    explicit BandMarks(QCustomPlot& plot) : m_plot(plot) {}

    void setBands(std::vector<resources::PlotBand> bands) { m_bands = std::move(bands); }
    /// Returns the name of the band at `x`, or an empty text outside all bands.
    [[nodiscard]] QString nameAt(double x) const;
    /// Draws the bands anew in a plot that has been laid out.
    void draw(resources::Theme theme);

private:
    void shade(double from, double to, resources::Theme theme);
    void write(const QString& name, double from, double to, resources::Theme theme);

    QCustomPlot& m_plot;
    std::vector<resources::PlotBand> m_bands;
    std::vector<QCPAbstractItem*> m_items;
};

/// A sentence at the lower left of a plot's axes, in several lines if needed. GUI thread.
class PlotNote {
public:
    explicit PlotNote(QCustomPlot& plot);

    /// Sets the text; empty: shows nothing.
    void setText(const QString& text);
    void setTheme(resources::Theme theme);

private:
    void wrap();

    QCustomPlot& m_plot;
    QString m_text;
    QCPItemText* m_item;
};

} // namespace residua::visualizers
