// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"

#include <QColor>
#include <QSize>

class QCustomPlot;
class QCPColorGradient;
class QWidget;

namespace residua::visualizers {

[[nodiscard]] QColor toQColor(resources::Rgb rgb, double alpha = 1.0);

/// Grounds, axes, grid and fonts of a plot in the theme's colours.
void applyTheme(QCustomPlot& plot, resources::Theme theme);

/// Height and width of what stands below and beside the axes of a plot.
inline constexpr QSize kAxesRoom(60, 50);
/// Gives the vertical axis no more numbers than can be read above each other.
void fitTicks(QCustomPlot& plot);

/// Draws the plot once, however often it is asked for before, and in time for the window's next repaint: what one event
/// changes in several plots is one repaint of the window, which is dear where it is composed without a GPU. GUI thread.
void replotSoon(QCustomPlot& plot);

/// Gives a widget the colour of secondary text, such as what an empty plot says.
void setMuted(QWidget& text, resources::Theme theme);

/// Magnitudes from the theme's ground up, or signed values about the middle of the range. NaN is left empty.
enum class Scale { Magnitude, Signed };
[[nodiscard]] QCPColorGradient gradientFor(Scale scale, resources::Theme theme);

} // namespace residua::visualizers
