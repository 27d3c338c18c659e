// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/plot.h"

#include <qcustomplot.h>

#include <QColor>
#include <QPen>
#include <QSize>

#include <cstddef>

class QWidget;

namespace residua::visualizers {

[[nodiscard]] QColor toQColor(resources::Rgb rgb, double alpha = 1.0);

/// The looks of curves by their colour numbers: resources::curveColour, with solid lines and discs for the first eight,
/// then with two kinds of dashes, squares and triangles.

[[nodiscard]] Qt::PenStyle penStyleOf(resources::Stroke stroke);
/// Returns the pen of a line. Strokes other than solid keep their own dashes.
[[nodiscard]] QPen curvePen(std::size_t colour, resources::Stroke stroke, const QColor& ink, double width);
/// Returns the mark of a point.
[[nodiscard]] QCPScatterStyle::ScatterShape curveMark(std::size_t colour);
/// Sets background, axes, grid and fonts of a plot to the theme's colours.
void applyTheme(QCustomPlot& plot, resources::Theme theme);

/// The width and height of the numbers and labels beside and below the axes of a plot.
inline constexpr QSize kAxesRoom(60, 50);
/// Limits the numbers on the vertical axis to those that are legible above each other.
void fitTicks(QCustomPlot& plot);

/// Draws the plot once, however often it is called before, and in time for the window's next repaint. Changes by one
/// event in several plots then cause one repaint of the window, which is expensive without a GPU. GUI thread.
void replotSoon(QCustomPlot& plot);

/// Gives a widget the colour of secondary text, such as the text of an empty plot.
void setMuted(QWidget& text, resources::Theme theme);

/// Magnitudes from the theme's background up, or signed values about the middle of the range. NaN is left empty.
enum class Scale { Magnitude, Signed };
[[nodiscard]] QCPColorGradient gradientFor(Scale scale, resources::Theme theme);

} // namespace residua::visualizers
