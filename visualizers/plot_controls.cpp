// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot_controls.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QSlider>

namespace residua::visualizers {
namespace {

constexpr int kNarrowestChoice = 64;
constexpr int kNarrowestSlider = 36;
constexpr int kWidestSlider = 140;

} // namespace

void showWhole(QComboBox& choice)
{
    choice.setSizeAdjustPolicy(QComboBox::AdjustToContents);
    choice.setMinimumWidth(kNarrowestChoice); // else the layout keeps room for the longest text
    choice.view()->setMinimumWidth(choice.view()->sizeHintForColumn(0));
    choice.view()->setTextElideMode(Qt::ElideNone);
}

void giveWay(QSlider& slider)
{
    slider.setMinimumWidth(kNarrowestSlider);
    slider.setMaximumWidth(kWidestSlider);
}

} // namespace residua::visualizers
