// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/effects_plot.h"

#include "resources/axis.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/short_ticker.h"

#include <QMouseEvent>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr double kBarWidth = 0.7; ///< share of the distance between two parts
constexpr double kRoomAtEnds = 0.06;
constexpr double kReachOfPointer = 10; ///< pixels
constexpr double kPointSize = 6;
constexpr double kTurnOfParts = -45; ///< degrees
constexpr int kPartPixels = 16;      ///< along the axis, of a label

} // namespace

EffectsPlot::EffectsPlot(QWidget* parent)
    : Plot(parent),
      m_points(addGraph()),
      m_bars(new QCPBars(xAxis, yAxis)),
      m_errors(new QCPErrorBars(xAxis, yAxis)),
      m_mark(new QCPItemTracer(this))
{
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    setMouseTracking(true);
    m_points->setLineStyle(QCPGraph::lsNone);
    m_points->setAdaptiveSampling(false); // every point is one part
    m_bars->setWidth(kBarWidth);
    m_errors->setErrorType(QCPErrorBars::etValueError);
    m_mark->setStyle(QCPItemTracer::tsCircle);
    m_mark->setVisible(false);
    yAxis->setTicker(shortTicker(yAxis->scaleType()));
    xAxis->setSubTicks(false);
    connect(this, &Plot::pointerLeft, this, [this] { point(-1); });
}

void EffectsPlot::setRows(const std::vector<engine::KnockoutRow>& rows, As as)
{
    m_as = as;
    m_rows.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const engine::KnockoutRow& row = rows[i];
        const double x = as == As::Parts ? static_cast<double>(m_rows.size()) : std::abs(row.weight);
        if (std::isfinite(x) && std::isfinite(row.rise)) {
            m_rows.push_back({static_cast<int>(i), QString::fromStdString(row.name), x, row.rise, row.error});
        }
    }
    QVector<double> places;
    QVector<double> rises;
    QVector<double> errors;
    for (const Drawn& each : m_rows) {
        places << each.x;
        rises << each.rise;
        errors << each.error;
    }
    const bool isByPart = as == As::Parts;
    m_points->setData(isByPart ? QVector<double>() : places, isByPart ? QVector<double>() : rises);
    m_bars->setData(isByPart ? places : QVector<double>(), isByPart ? rises : QVector<double>());
    // The graph sorts its points by x, and the errors belong to points by their place.
    std::vector<std::pair<double, double>> sorted;
    for (int i = 0; i < places.size(); ++i) {
        sorted.emplace_back(places[i], errors[i]);
    }
    std::ranges::stable_sort(sorted, {}, &std::pair<double, double>::first);
    std::ranges::transform(sorted, errors.begin(), &std::pair<double, double>::second);
    m_errors->setDataPlottable(isByPart ? static_cast<QCPAbstractPlottable*>(m_bars) : m_points);
    m_errors->setData(errors);
    m_errors->setVisible(std::ranges::all_of(errors, [](double error) { return std::isfinite(error); }));
    xAxis->setLabel(isByPart ? QString() : tr("size of the weight"));
    xAxis->grid()->setVisible(!isByPart);
    xAxis->setTickLabelRotation(isByPart ? kTurnOfParts : 0);
    labelParts();
    fitAxes();
    m_pointed = -1;
    m_mark->setVisible(false);
    fitLabel();
    replotSoon(*this);
}

/// Leaves the label of the rises out if it is longer than the axis and would be cut off.
void EffectsPlot::fitLabel()
{
    const QString label = tr("rise of the loss");
    yAxis->setLabel(fontMetrics().horizontalAdvance(label) <= height() - kAxesRoom.height() ? label : QString());
}

/// Includes the errors, and the 0 of no effect.
void EffectsPlot::fitAxes()
{
    double low = 0;
    double high = 0;
    double right = 0;
    for (const Drawn& each : m_rows) {
        const double error = std::isfinite(each.error) ? each.error : 0;
        low = std::min(low, each.rise - error);
        high = std::max(high, each.rise + error);
        right = std::max(right, each.x);
    }
    const resources::AxisRange y = resources::linearRange(low, high, kRoomAtEnds);
    yAxis->setRange(y.low, y.high);
    if (m_as == As::Parts) {
        xAxis->setRange(-0.6, std::max(static_cast<double>(m_rows.size()), 1.0) - 0.4);
    } else {
        const resources::AxisRange x = resources::linearRange(0, right, kRoomAtEnds);
        xAxis->setRange(x.low, x.high);
    }
    fitTicks(*this);
}

/// Names as many parts as can be read beside each other.
void EffectsPlot::labelParts()
{
    if (m_as == As::AgainstWeights) {
        xAxis->setTicker(shortTicker(xAxis->scaleType()));
        return;
    }
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    const auto room = static_cast<std::size_t>(std::max((width() - kAxesRoom.width()) / kPartPixels, 1));
    const std::size_t every = std::max<std::size_t>((m_rows.size() + room - 1) / room, 1);
    for (std::size_t i = 0; i < m_rows.size(); i += every) {
        ticker->addTick(m_rows[i].x, m_rows[i].name);
    }
    xAxis->setTicker(ticker);
}

int EffectsPlot::partAt(QPointF position) const
{
    int nearest = -1;
    double least = m_as == As::Parts ? std::numeric_limits<double>::infinity() : kReachOfPointer;
    if (!axisRect()->rect().contains(position.toPoint())) {
        return nearest;
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const double across = xAxis->coordToPixel(m_rows[i].x) - position.x();
        const double up = m_as == As::Parts ? 0 : yAxis->coordToPixel(m_rows[i].rise) - position.y();
        if (const double distance = std::hypot(across, up); distance < least) {
            least = distance;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

void EffectsPlot::point(int at)
{
    if (at == m_pointed) {
        return;
    }
    m_pointed = at;
    m_mark->setVisible(at >= 0);
    if (at >= 0) {
        const Drawn& part = m_rows[static_cast<std::size_t>(at)];
        m_mark->position->setCoords(part.x, part.rise);
    }
    emit pointed(at < 0 ? -1 : m_rows[static_cast<std::size_t>(at)].row);
    replotSoon(*this);
}

void EffectsPlot::mouseMoveEvent(QMouseEvent* event)
{
    point(partAt(event->position()));
    Plot::mouseMoveEvent(event);
}

void EffectsPlot::resizeEvent(QResizeEvent* event)
{
    Plot::resizeEvent(event);
    labelParts();
    fitLabel();
    fitTicks(*this);
}

void EffectsPlot::setTheme(resources::Theme theme)
{
    applyTheme(*this, theme);
    const auto& c = resources::themeColours(theme);
    const QColor colour = toQColor(resources::curveColour(0, theme));
    m_points->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(colour), colour, kPointSize));
    m_bars->setPen(Qt::NoPen);
    m_bars->setBrush(colour);
    m_errors->setPen(QPen(toQColor(c.muted), 1));
    m_mark->setPen(QPen(toQColor(c.accent), 2));
    m_mark->setBrush(Qt::NoBrush);
    m_mark->setSize(kPointSize * 2);
    replotSoon(*this);
}

} // namespace residua::visualizers
