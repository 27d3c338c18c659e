// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace residua::visualizers {

/// A plot that is not drawn while it has no area, as in a splitter before its first layout: QCustomPlot would fail to
/// and write so to the terminal. GUI thread.
class Plot : public QCustomPlot {
public:
    using QCustomPlot::QCustomPlot;

protected:
    void resizeEvent(QResizeEvent* event) override
    {
        if (!event->size().isEmpty()) {
            QCustomPlot::resizeEvent(event);
        }
    }
};

} // namespace residua::visualizers
