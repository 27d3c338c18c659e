// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "visualizers/plot/plot_controls.h"

#include <QLabel>
#include <QSlider>
#include <QSpinBox>
#include <QString>
#include <QTimer>
#include <QToolButton>
#include <QWidget>

#include <string>

class QAction;
class QComboBox;

namespace residua::visualizers {

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

    QComboBox* kind = new PlotChoice(this); ///< of matrix
    QComboBox* port = new PlotChoice(this);
    QSpinBox* feature = new QSpinBox(this);
    QComboBox* value = new PlotChoice(this);       ///< CellValue
    QToolButton* distance = new QToolButton(this); ///< shows the weights by distance instead of the grid
    QToolButton* effects = new QToolButton(this);  ///< shows the effects too; hidden until its owner has some
    QToolButton* pin = new QToolButton(this);
    QToolButton* play = new QToolButton(this);
    QSlider* scrubber = new QSlider(Qt::Horizontal, this);
    QLabel* stepLabel = new QLabel(this);
    QLabel* readout = new QLabel(this);

private:
    void name();
    void layOut();
    void connectAll();
    void refresh();
    [[nodiscard]] QString rightShare() const;
    [[nodiscard]] QString titleOf(const std::string& of) const;

    ShownMatrices& m_matrices;
    ControlRows* m_choices = new ControlRows;
    QTimer* m_player = new QTimer(this);
};

} // namespace residua::visualizers
