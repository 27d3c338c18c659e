// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QComboBox;
class QSlider;

namespace residua::visualizers {

/// A choice above a plot that is as wide as its longest text where there is room, and gives way where there is not:
/// its list is then wider than itself.
void showWhole(QComboBox& choice);
/// As wide as it likes to be, down to a thumb's room.
void giveWay(QSlider& slider);

} // namespace residua::visualizers
