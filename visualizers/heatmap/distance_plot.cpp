// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/distance_plot.h"

#include "resources/axis.h"
#include "visualizers/plot/plot_legend.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/short_ticker.h"

#include <QCoreApplication>

#include <algorithm>

namespace residua::visualizers {
namespace {

constexpr double kMargin = 0.06;
constexpr double kShade = 0.22;

QString words(const char* text)
{
    return QCoreApplication::translate("DistancePlot", text);
}

} // namespace

DistancePlot::DistancePlot(QWidget* parent) : Plot(parent), m_median(addGraph()), m_high(addGraph())
{
    setAccessibleName(words("Weights by distance"));
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    xAxis->setLabel(words("distance, in places of the stack"));
    xAxis->setTicker(shortTicker(xAxis->scaleType()));
    yAxis->setTicker(shortTicker(yAxis->scaleType()));
    m_high->setChannelFillGraph(m_median);
    new PlotLegend(*this); // the plot has it
    setTheme(m_theme);
}

void DistancePlot::setWeights(const std::vector<DistanceWeights>& weights, const QString& label, double low,
                              double high)
{
    QVector<double> distances;
    QVector<double> medians;
    QVector<double> highs;
    for (const DistanceWeights& each : weights) {
        distances << static_cast<double>(each.distance);
        medians << each.median;
        highs << each.high;
    }
    m_median->setData(distances, medians, true);
    m_high->setData(distances, highs, true);
    yAxis->setLabel(label);
    const auto across = resources::linearRange(1, distances.isEmpty() ? 1 : distances.back(), kMargin);
    xAxis->setRange(across.low, across.high);
    const auto up = resources::linearRange(std::min(low, 0.0), high, kMargin);
    yAxis->setRange(up.low, up.high);
    replotSoon(*this);
}

void DistancePlot::setTheme(resources::Theme theme)
{
    m_theme = theme;
    applyTheme(*this, theme);
    style();
    replotSoon(*this);
}

void DistancePlot::style()
{
    const QColor colour = toQColor(resources::curveColour(0, m_theme));
    m_median->setPen(QPen(colour, 2));
    m_median->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, colour, colour, 5));
    m_high->setPen(Qt::NoPen);
    QColor shade = colour;
    shade.setAlphaF(static_cast<float>(kShade));
    m_high->setBrush(shade);
    plotLegend()->setTheme(m_theme);
    plotLegend()->setEntries(
        {{.text = words("median"), .colour = colour, .marks = QCPScatterStyle::ssDisc},
         {.text = words("up to the 90th percentile"), .colour = shade, .line = Qt::NoPen, .area = true}});
}

} // namespace residua::visualizers
