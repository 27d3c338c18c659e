// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

class QLabel;
class QSlider;

namespace residua::visualizers {

/// The least height of a plot, with its axes: a curve can still be read.
inline constexpr int kLeastPlotHeight = 120;

/// A choice above a plot: as wide as what it says now, and narrower where there is no room, so that several fit side by
/// side in a narrow dock. Its list is as wide as its longest text.
class PlotChoice : public QComboBox {
    Q_OBJECT
public:
    explicit PlotChoice(QWidget* parent);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    void showPopup() override;
};

/// Returns a label with the text of an empty plot in its middle. It ignores the pointer; the view hides it.
[[nodiscard]] QLabel* inviteOver(QWidget& plot, const QString& text);

/// A control behind its caption, in a widget of their own beside the control's.
[[nodiscard]] QWidget* captioned(const QString& caption, QWidget& control);

/// Lets a slider be as wide as it likes to be, and shrink to the room of its thumb.
void giveWay(QSlider& slider);

} // namespace residua::visualizers
