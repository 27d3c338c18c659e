// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

class QLabel;
class QSlider;

namespace residua::visualizers {

/// A choice above a plot. It is as wide as its current text, or narrower if there is no room, so that several fit side
/// by side in a narrow dock. Its list is as wide as its longest text.
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

/// Lets a slider shrink from its preferred width to that of its thumb.
void giveWay(QSlider& slider);

} // namespace residua::visualizers
