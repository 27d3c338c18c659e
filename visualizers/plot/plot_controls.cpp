// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_controls.h"

#include <QAbstractItemView>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr int kNarrowestChoice = 100;
constexpr int kNarrowestSlider = 36;
constexpr int kWidestSlider = 120;

} // namespace

PlotChoice::PlotChoice(QWidget* parent) : QComboBox(parent)
{
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(this, &QComboBox::currentTextChanged, this, &QWidget::updateGeometry);
}

/// The box's own hint fits the longest text.
QSize PlotChoice::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    int longest = 0;
    for (int i = 0; i < count(); ++i) {
        longest = std::max(longest, metrics.horizontalAdvance(itemText(i)));
    }
    const QSize whole = QComboBox::sizeHint();
    return {whole.width() - longest + metrics.horizontalAdvance(currentText()), whole.height()};
}

QSize PlotChoice::minimumSizeHint() const
{
    return {std::min(kNarrowestChoice, sizeHint().width()), sizeHint().height()};
}

void PlotChoice::showPopup()
{
    view()->setMinimumWidth(QComboBox::sizeHint().width());
    QComboBox::showPopup();
}

QLabel* inviteOver(QWidget& plot, const QString& text)
{
    auto* label = new QLabel(text, &plot);
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* over = new QVBoxLayout(&plot);
    over->setContentsMargins(32, 16, 32, 16);
    over->addWidget(label);
    return label;
}

QWidget* captioned(const QString& caption, QWidget& control)
{
    auto* both = new QWidget(control.parentWidget());
    auto* row = new QHBoxLayout(both);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(new QLabel(caption, both));
    row->addWidget(&control);
    return both;
}

void giveWay(QSlider& slider)
{
    slider.setMinimumWidth(kNarrowestSlider);
    slider.setMaximumWidth(kWidestSlider);
}

} // namespace residua::visualizers
