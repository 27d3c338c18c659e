// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QString>

class QCPItemText;
class QCustomPlot;

namespace residua::visualizers {

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
