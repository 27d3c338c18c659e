// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QToolButton;

namespace residua::visualizers {

/// The two rows above a heatmap: what is shown, and at which step. What they do is connected by who has them.
class HeatmapControls : public QWidget {
    Q_OBJECT
public:
    static constexpr int kAllFeatures = -1; ///< in place of a feature's number

    explicit HeatmapControls(QWidget* parent);

    QComboBox* kind; ///< of matrix
    QComboBox* port;
    QSpinBox* feature;
    QComboBox* value;      ///< CellValue
    QToolButton* distance; ///< the weights by distance in place of the grid
    QToolButton* pin;
    QToolButton* play;
    QSlider* scrubber;
    QLabel* stepLabel;
    QLabel* readout;

private:
    void name();
    void layOut();
};

} // namespace residua::visualizers
