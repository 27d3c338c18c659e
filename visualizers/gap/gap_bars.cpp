// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/gap_bars.h"

#include "projects/schema/method_keys.h"
#include "resources/axis.h"
#include "visualizers/plot/plot_legend.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/short_ticker.h"

#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kGroupWidth = 0.8; ///< share of the distance between two weights
constexpr double kMargin = 0.06;
constexpr double kMarkAlpha = 0.16;
constexpr double kSlant = -45; ///< degrees
constexpr int kLabelPixels = 16;
constexpr int kLeastBar = 3; ///< pixels of a bar that can be told from its neighbours
constexpr double kBoundSize = 6;
constexpr double kBehind = 0.2; ///< opacity of bars while another entry of the legend is hovered

QString labelOf(GapMeasure measure)
{
    switch (measure) {
    case GapMeasure::FunctionError:
        return GapBars::tr("function error ÷ full");
    case GapMeasure::WeightError:
        return GapBars::tr("weight error");
    case GapMeasure::Correlation:
        return GapBars::tr("mean correlation");
    case GapMeasure::Seconds:
        break;
    }
    return GapBars::tr("seconds");
}

/// A short horizontal line.
QCPScatterStyle dash(const QColor& colour)
{
    QPainterPath path(QPointF(-kBoundSize / 2, 0));
    path.lineTo(kBoundSize / 2, 0);
    QCPScatterStyle style(path, QPen(colour, 2));
    style.setSize(kBoundSize);
    return style;
}

/// Shows the finite values of the weights at their places in the order.
template <class Plottable, class Value>
void setValues(Plottable& plottable, const std::vector<std::size_t>& order, const Value& valueOf)
{
    QVector<double> places;
    QVector<double> values;
    for (std::size_t at = 0; at < order.size(); ++at) {
        const std::optional<double> value = valueOf(order[at]);
        if (value && std::isfinite(*value)) {
            places << static_cast<double>(at);
            values << *value;
        }
    }
    plottable.setData(places, values, true);
}

} // namespace

std::size_t colourOf(projects::LowRankMethod method)
{
    return static_cast<std::size_t>(method);
}

GapBars::GapBars(QWidget* parent) : Plot(parent), m_group(new QCPBarsGroup(this)), m_bound(addGraph())
{
    setAccessibleName(tr("Gap of each weight, by method"));
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    setMouseTracking(true);
    addLayer(QStringLiteral("marks"), layer(QStringLiteral("grid")), QCustomPlot::limBelow);
    m_group->setSpacingType(QCPBarsGroup::stPlotCoords);
    m_group->setSpacing(0);
    yAxis->setTicker(shortTicker(yAxis->scaleType()));
    xAxis->setSubTicks(false);
    xAxis->grid()->setVisible(false);
    m_bound->setLineStyle(QCPGraph::lsNone);
    setAutoAddPlottableToLegend(false);
    auto* const names = new PlotLegend(*this, PlotLegend::Room::Beside); // within the axes it would cover bars
    connect(names, &PlotLegend::clicked, this, &GapBars::toggle);
    connect(names, &PlotLegend::pointedChanged, this, &GapBars::draw);
    connect(this, &QCustomPlot::afterLayout, this, [this] {
        if (roomForWeights() != m_room) { // the legend or the labels have taken another width
            draw();
        }
    });
    setTheme(m_theme);
}

void GapBars::setGap(const engine::Gap& gap, const std::vector<std::size_t>& order, GapMeasure measure)
{
    m_gap = gap;
    m_order = order;
    m_measure = measure;
    draw();
}

void GapBars::mark(const std::set<std::size_t>& weights)
{
    if (weights != m_marked) {
        m_marked = weights;
        drawMarks();
        replotSoon(*this);
    }
}

void GapBars::setTheme(resources::Theme theme)
{
    m_theme = theme;
    applyTheme(*this, theme);
    plotLegend()->setTheme(theme);
    draw();
}

void GapBars::resizeEvent(QResizeEvent* event)
{
    Plot::resizeEvent(event);
    draw(); // the room for labels has changed
}

void GapBars::draw()
{
    axisRect()->setVisible(!m_gap.weights.empty()); // an empty figure says nothing, under what invites to compute
    drawBars();
    drawBound();
    drawMarks();
    labelWeights();
    const int all = std::max(static_cast<int>(m_order.size()), 1);
    m_room = roomForWeights();
    const int shown = std::min(m_room, all);
    m_first = std::clamp(m_first, 0, all - shown);
    xAxis->setRange(m_first - 0.6, m_first + shown - 0.4);
    emit roomChanged(shown, all);
    const QString label = labelOf(m_measure);
    yAxis->setLabel(fontMetrics().horizontalAdvance(label) <= axisRect()->height() ? label : QString());
    fitTicks(*this);
    fillLegend();
    fitHeight();
    replotSoon(*this);
}

/// Returns for how many weights every bar has its least width.
int GapBars::roomForWeights() const
{
    const int methods = std::max(static_cast<int>(m_gap.methods.size()), 1);
    return std::max(axisRect()->width() / (kLeastBar * methods + kLeastBar), 1);
}

void GapBars::showFrom(int first)
{
    if (first != m_first) {
        m_first = first;
        draw();
    }
}

void GapBars::fitHeight()
{
    double highest = 0;
    for (std::size_t at = 0; at < m_order.size(); ++at) {
        for (std::size_t method = 0; method < m_gap.methods.size(); ++method) {
            if (m_bars[method]->visible()) {
                highest = std::max(highest, valueOf(m_gap.fit(m_order[at], method), m_measure).value_or(0));
            }
        }
    }
    yAxis->setRange(0, resources::linearRange(0, highest, kMargin).high);
}

void GapBars::fillLegend()
{
    std::vector<PlotLegend::Entry> entries;
    for (const projects::LowRankMethod method : m_gap.methods) {
        const QString title = QString::fromStdString(projects::titleOf(method));
        entries.push_back({.key = title,
                           .text = title,
                           .colour = toQColor(resources::curveColour(colourOf(method), m_theme)),
                           .line = Qt::NoPen,
                           .area = true,
                           .hidden = m_hidden.contains(title)});
    }
    if (m_bound->dataCount() > 0) {
        entries.push_back({.text = tr("best at most"), .colour = toQColor(resources::themeColours(m_theme).text)});
    }
    plotLegend()->setEntries(m_gap.weights.empty() ? std::vector<PlotLegend::Entry>() : std::move(entries));
}

/// Hides the bars of a method, or shows them again.
void GapBars::toggle(const QString& key)
{
    if (m_hidden.erase(key) == 0) {
        m_hidden.insert(key);
    }
    draw();
}

void GapBars::drawBars()
{
    while (m_bars.size() > m_gap.methods.size()) {
        removePlottable(m_bars.back());
        m_bars.pop_back();
    }
    while (m_bars.size() < m_gap.methods.size()) {
        m_bars.push_back(new QCPBars(xAxis, yAxis));
        m_bars.back()->setBarsGroup(m_group);
        m_bars.back()->setPen(Qt::NoPen);
    }
    for (std::size_t method = 0; method < m_bars.size(); ++method) {
        QCPBars& bars = *m_bars[method];
        const QString title = QString::fromStdString(projects::titleOf(m_gap.methods[method]));
        const QString& pointed = plotLegend()->pointed();
        bars.setName(title);
        bars.setVisible(!m_hidden.contains(title));
        bars.setWidth(kGroupWidth / static_cast<double>(m_bars.size()));
        bars.setBrush(toQColor(resources::curveColour(colourOf(m_gap.methods[method]), m_theme),
                               pointed.isEmpty() || pointed == title ? 1 : kBehind));
        setValues(bars, m_order, [&](std::size_t weight) { return valueOf(m_gap.fit(weight, method), m_measure); });
    }
}

void GapBars::drawBound()
{
    setValues(*m_bound, m_order, [this](std::size_t weight) {
        return m_measure == GapMeasure::FunctionError ? bestAtMost(m_gap, weight) : std::nullopt;
    });
    m_bound->setScatterStyle(dash(toQColor(resources::themeColours(m_theme).text)));
    m_bound->setLayer(QStringLiteral("axes"));
}

void GapBars::drawMarks()
{
    for (QCPItemRect* mark : m_marks) {
        removeItem(mark);
    }
    m_marks.clear();
    const QColor colour = toQColor(resources::themeColours(m_theme).accent, kMarkAlpha);
    for (std::size_t at = 0; at < m_order.size(); ++at) {
        if (!m_marked.contains(m_order[at])) {
            continue;
        }
        auto* mark = new QCPItemRect(this);
        mark->setLayer(QStringLiteral("marks"));
        mark->setPen(Qt::NoPen);
        mark->setBrush(colour);
        mark->topLeft->setTypeX(QCPItemPosition::ptPlotCoords);
        mark->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
        mark->bottomRight->setTypeX(QCPItemPosition::ptPlotCoords);
        mark->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
        mark->topLeft->setCoords(static_cast<double>(at) - 0.5, 0);
        mark->bottomRight->setCoords(static_cast<double>(at) + 0.5, 1);
        m_marks.push_back(mark);
    }
}

/// Labels as many weights as can be read beside each other.
void GapBars::labelWeights()
{
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    const int room = std::max(axisRect()->width() / kLabelPixels, 1);
    const int seen = std::min(roomForWeights(), static_cast<int>(m_order.size()));
    const auto every = static_cast<std::size_t>(std::max(1, (seen + room - 1) / room));
    for (std::size_t at = 0; at < m_order.size(); at += every) {
        ticker->addTick(static_cast<double>(at), QString::fromStdString(shortNameOf(m_gap.weights[m_order[at]].name)));
    }
    xAxis->setTickLabelRotation(kSlant);
    xAxis->setTicker(ticker);
}

std::ptrdiff_t GapBars::placeAt(QPointF position) const
{
    if (!axisRect()->rect().contains(position.toPoint())) {
        return -1;
    }
    const auto place = static_cast<std::ptrdiff_t>(std::lround(xAxis->pixelToCoord(position.x())));
    return place >= 0 && place < static_cast<std::ptrdiff_t>(m_order.size()) ? place : -1;
}

QString GapBars::readingOf(std::size_t weight) const
{
    QStringList lines{QString::fromStdString(m_gap.weights[weight].name)};
    for (std::size_t method = 0; method < m_gap.methods.size(); ++method) {
        if (const std::optional<double> value = valueOf(m_gap.fit(weight, method), m_measure)) {
            lines << QStringLiteral("%1  %2").arg(QString::fromStdString(projects::titleOf(m_gap.methods[method])),
                                                  QString::fromStdString(resources::shortNumber(*value)));
        }
    }
    if (const auto best = m_measure == GapMeasure::FunctionError ? bestAtMost(m_gap, weight) : std::nullopt) {
        lines << tr("the best: at most %1").arg(QString::fromStdString(resources::shortNumber(*best)));
    }
    return lines.join(QLatin1Char('\n'));
}

void GapBars::mousePressEvent(QMouseEvent* event)
{
    const std::ptrdiff_t place = placeAt(event->position());
    if (event->button() == Qt::LeftButton && place >= 0) {
        emit weightClicked(m_order[static_cast<std::size_t>(place)]);
    }
    Plot::mousePressEvent(event);
}

void GapBars::mouseMoveEvent(QMouseEvent* event)
{
    const std::ptrdiff_t place = placeAt(event->position());
    QToolTip::showText(event->globalPosition().toPoint(),
                       place < 0 ? QString() : readingOf(m_order[static_cast<std::size_t>(place)]), this);
    Plot::mouseMoveEvent(event);
}

} // namespace residua::visualizers
