// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/sweeps/sweep_fields.h"

#include <QListWidget>

#include <vector>

namespace residua::app {

/// Values of a swept field as boxes that are ticked, in as many columns as there is room for. A click anywhere on a
/// value, or the space bar, ticks it; with Shift, all values from the last one too. GUI thread.
class SweepTicks : public QListWidget {
    Q_OBJECT
public:
    explicit SweepTicks(QWidget* parent = nullptr);

    /// Shows the proposed values and the others of `chosen`, which are ticked. Hidden if nothing is proposed.
    void setTicks(std::vector<ValueTick> proposed, const std::vector<projects::SweepValue>& chosen);

signals:
    /// Emitted when the user ticks: all ticked values in the order of the list.
    void ticked(const std::vector<residua::projects::SweepValue>& values);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void toggle(int row, Qt::KeyboardModifiers modifiers);
    void fitHeight();

    std::vector<ValueTick> m_ticks;  ///< one per row
    int m_widest = 0;                ///< value, in pixels
    int m_last = 0;                  ///< the row that was toggled last
    Qt::KeyboardModifiers m_pressed; ///< with which the mouse was pressed
};

} // namespace residua::app
