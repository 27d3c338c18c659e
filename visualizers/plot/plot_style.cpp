// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/plot_style.h"

#include "visualizers/plot/series.h"

#include <QPainter>

#include <algorithm>
#include <iterator>

namespace residua::visualizers {

QColor toQColor(resources::Rgb rgb, double alpha)
{
    return QColor::fromRgbF(rgb.r / 255.0F, rgb.g / 255.0F, rgb.b / 255.0F, static_cast<float>(alpha));
}

namespace {

constexpr std::size_t kColours = 8; ///< of resources::curveColour

/// Returns the dashes of the colour numbers beyond the colours, in widths of the line; empty for solid lines.
QList<qreal> dashesOf(std::size_t colour)
{
    static const QList<qreal> kDashes[] = {{}, {7, 3}, {2, 2}};
    return kDashes[colour / kColours % std::size(kDashes)];
}

} // namespace

Qt::PenStyle penStyleOf(resources::Stroke stroke)
{
    static constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::SolidLine,   Qt::DashLine,
                                               Qt::DotLine,   Qt::DashDotLine, Qt::NoPen};
    return kStyles[static_cast<std::size_t>(stroke)];
}

QPen curvePen(std::size_t colour, resources::Stroke stroke, const QColor& ink, double width)
{
    QPen pen(ink, width, penStyleOf(stroke));
    if (const QList<qreal> dashes = dashesOf(colour); pen.style() == Qt::SolidLine && !dashes.isEmpty()) {
        pen.setDashPattern(dashes);
        pen.setCapStyle(Qt::FlatCap);
    }
    return pen;
}

QCPScatterStyle::ScatterShape curveMark(std::size_t colour)
{
    static constexpr QCPScatterStyle::ScatterShape kMarks[] = {QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare,
                                                               QCPScatterStyle::ssTriangle};
    return kMarks[colour / kColours % std::size(kMarks)];
}

QPixmap curveSample(std::size_t colour, resources::Theme theme)
{
    constexpr int kSize = 16;
    const QList<qreal> dashes = dashesOf(colour);
    const int piece = dashes.isEmpty() ? kSize : static_cast<int>(dashes.front());
    const int gap = dashes.isEmpty() ? 0 : static_cast<int>(dashes.back());
    QPixmap sample(kSize, kSize);
    sample.fill(Qt::transparent);
    QPainter painter(&sample);
    for (int left = 0; left < kSize; left += piece + gap) {
        painter.fillRect(left, 0, piece, kSize, toQColor(resources::curveColour(colour, theme)));
    }
    return sample;
}

void applyTheme(QCustomPlot& plot, resources::Theme theme)
{
    const auto& c = resources::themeColours(theme);
    plot.setBackground(QBrush(toQColor(c.surface)));
    const QPen line(toQColor(c.border), 1);
    const QPen grid(toQColor(c.grid), 1);
    for (QCPAxisRect* rect : plot.axisRects()) {
        for (QCPAxis* axis : rect->axes()) {
            axis->setBasePen(line);
            axis->setTickPen(line);
            axis->setSubTickPen(Qt::NoPen);
            axis->setTickLabelColor(toQColor(c.muted));
            axis->setLabelColor(toQColor(c.text));
            axis->setTickLabelFont(plot.font());
            axis->setLabelFont(plot.font());
            axis->grid()->setPen(grid);
            axis->grid()->setZeroLinePen(grid);
            axis->grid()->setSubGridVisible(false);
        }
    }
    plot.selectionRect()->setPen(QPen(toQColor(c.accent), 1));
    plot.selectionRect()->setBrush(QBrush(toQColor(c.accent, 0.12)));
}

void fitTicks(QCustomPlot& plot)
{
    constexpr int kMost = 5;
    const int spacing = 2 * QFontMetrics(plot.yAxis->tickLabelFont()).height();
    plot.yAxis->ticker()->setTickCount(std::clamp((plot.height() - kAxesRoom.height()) / spacing, 1, kMost));
}

void replotSoon(QCustomPlot& plot)
{
    constexpr const char* kPosted = "replotPosted";
    if (plot.property(kPosted).toBool()) {
        return;
    }
    plot.setProperty(kPosted, true);
    plot.setPlottingHint(QCP::phImmediateRefresh, false);
    // Posted as an event, because QCustomPlot's own queue is a timer; repaint requests come after posted events.
    QMetaObject::invokeMethod(
        &plot,
        [&plot] {
            plot.setProperty(kPosted, false);
            if (!plot.size().isEmpty()) { // in a splitter that has not been laid out, its resize draws it
                plot.replot();
            }
        },
        Qt::QueuedConnection);
}

void setMuted(QWidget& text, resources::Theme theme)
{
    text.setProperty("role", QStringLiteral("muted")); // for a style sheet, which would override the palette
    QPalette palette = text.palette();
    palette.setColor(QPalette::WindowText, toQColor(resources::themeColours(theme).muted));
    text.setPalette(palette);
}

QCPColorGradient gradientFor(Scale scale, resources::Theme theme)
{
    constexpr int stops = 97; // includes the stops of the maps, so that a weight has the same colour as on the canvases
    QCPColorGradient gradient;
    gradient.clearColorStops();
    for (int i = 0; i < stops; ++i) {
        const double t = static_cast<double>(i) / (stops - 1);
        const auto rgb =
            scale == Scale::Magnitude ? resources::magnitude(t, theme) : resources::diverging(2 * t - 1, theme);
        gradient.setColorStopAt(t, toQColor(rgb));
    }
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    return gradient;
}

} // namespace residua::visualizers
