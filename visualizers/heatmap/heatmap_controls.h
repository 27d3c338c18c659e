// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <string>

class QAction;
class QComboBox;
class QLabel;
class QSlider;
class QSpinBox;
class QTimer;
class QToolButton;

namespace residua::visualizers {

class ControlRows;
class ShownMatrices;

/// The two rows above a heatmap, which select the contents and the step of `matrices`. The owner connects "by distance"
/// "effects" and the readout.
class HeatmapControls : public QWidget {
    Q_OBJECT
public:
    HeatmapControls(ShownMatrices& matrices, QWidget* parent);

    /// Returns the kind of matrix that is shown, for people.
    [[nodiscard]] QString kindTitle() const;
    /// Adds a button for a command behind the choices.
    void addCommand(QAction* command);

    QComboBox* kind; ///< of matrix
    QComboBox* port;
    QSpinBox* feature;
    QComboBox* value;      ///< CellValue
    QToolButton* distance; ///< shows the weights by distance instead of the grid
    QToolButton* effects;  ///< shows the effects too; hidden until its owner has some
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
    ControlRows* m_choices;
    QTimer* m_player;
};

} // namespace residua::visualizers
