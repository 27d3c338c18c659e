// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <string>

class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QTimer;
class QToolButton;

namespace residua::visualizers {

class ShownMatrices;

/// The two rows above a heatmap, which select the contents and the step of `matrices`. The owner connects "by distance"
/// and the readout.
class HeatmapControls : public QWidget {
    Q_OBJECT
public:
    HeatmapControls(ShownMatrices& matrices, QWidget* parent);

    /// Returns the kind of matrix that is shown, for people.
    [[nodiscard]] QString kindTitle() const;

    QComboBox* kind; ///< of matrix
    QComboBox* port;
    QSpinBox* feature;
    QComboBox* value;      ///< CellValue
    QToolButton* distance; ///< shows the weights by distance instead of the grid
    QToolButton* pin;
    QToolButton* play;
    QSlider* scrubber;
    QLabel* stepLabel;
    QLabel* readout;

private:
    void name();
    void layOut();
    void connectAll();
    void refresh();
    [[nodiscard]] QString rightShare() const;
    [[nodiscard]] QString titleOf(const std::string& of) const;

    ShownMatrices& m_matrices;
    QTimer* m_player;
};

} // namespace residua::visualizers
