// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "resources/colours.h"
#include "resources/curve.h"
#include "resources/moving_average.h"

#include <QFontMetrics>
#include <QPixmap>
#include <QString>
#include <QStringList>
#include <QTextStream>

#include <array>
#include <cstddef>
#include <functional>

namespace residua::visualizers {

using resources::Curve;
using resources::MovingAverage;

/// The horizontal axis of curves.
enum class XAxis { Step, Units, Flop, Seconds, EnvironmentSteps };

/// One recorded number of a run: its points, and their moving average, which is computed as time permits.
class Series {
public:
    /// The position of a point on each axis: step, tokens or samples, seconds, the number of tokens or samples of the
    /// whole network that take the FLOP so far, and steps in a world.
    using Positions = std::array<double, 5>;

    /// Adds a point. If its step is not after the last one, removes the points from it on. A position that does not
    /// ascend on another axis, as in a damaged record, is replaced by that of the last point.
    void append(const Positions& positions, double y);
    /// Removes the points from `step` on.
    void cut(double step);
    /// Sets the axis of raw() and smooth(). FLOP are units of the whole network times `flopPerUnit`.
    void setAxis(XAxis axis, double flopPerUnit);
    /// Sets how many points smooth() averages; 1: it stays empty. Clears smooth(), which only catchUp() fills.
    void setWindow(double points);
    [[nodiscard]] double window() const { return m_window; }
    /// Adds up to `most` further points to smooth(), and returns their number.
    std::size_t catchUp(std::size_t most);

    [[nodiscard]] const Curve& raw() const { return m_raw; }
    [[nodiscard]] const Curve& smooth() const { return m_smooth; }
    /// Returns the positions of `step`: those of the last point at or before it, or 0 before the first.
    [[nodiscard]] Positions positionsOf(double step) const;

private:
    [[nodiscard]] Positions positionsAt(std::size_t index) const;

    Curve m_raw{std::tuple_size_v<Positions>};
    Curve m_smooth{std::tuple_size_v<Positions>};
    double m_window = 1;
    MovingAverage m_average;
    std::size_t m_averaged = 0; ///< number of points in the average
};

/// Writes the numbers of a plot with a header line. It owns its data. Any thread.
using CsvText = std::function<void(QTextStream&)>;

/// Returns the text as a quoted CSV field.
[[nodiscard]] inline QString csvQuoted(QString text)
{
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

/// Shortens names that are wider than `width` pixels such that different names stay different: it cuts the parts that
/// all of them begin with, else the middle, the start or the end, whichever tells all of them apart, or else what they
/// have in common at the start. Names that fit stay whole.
[[nodiscard]] QStringList distinctNames(const QStringList& names, const QFontMetrics& metrics, int width);

/// Returns a square in the colour of a curve for lists of runs, with gaps if its lines have dashes (curvePen).
[[nodiscard]] QPixmap curveSample(std::size_t colour, resources::Theme theme);

} // namespace residua::visualizers
