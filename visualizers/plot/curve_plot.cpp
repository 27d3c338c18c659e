// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/curve_plot.h"

#include "resources/axis.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/reading_table.h"
#include "visualizers/plot/short_ticker.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {
namespace {

constexpr double kEndMargin = 0.01;   ///< space right of marks, as a share of the range
constexpr double kMargin = 0.04;      ///< space above and below the curves, as a share of their range
constexpr double kLinearShare = 1e-4; ///< of the largest value, below which a symmetric logarithm is linear
constexpr int kFewestColumns = 200;   ///< of a curve, however many curves there are
constexpr int kMostColumns = 24'000;  ///< of all curves together
constexpr double kBehind = 0.15;      ///< share of its opacity that a curve keeps while another is hovered
constexpr double kBandSample = 0.25;  ///< opacity of a band in the legend
constexpr int kSmooth = 20'000;       ///< number of points up to which lines are antialiased

// Positions are symmetric logarithms; labels show the values.
class SymmetricTicker final : public QCPAxisTicker {
public:
    explicit SymmetricTicker(double reach) : m_reach(reach) {}

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override
    {
        const double value = std::copysign((std::pow(10.0, std::abs(tick)) - 1) * m_reach, tick);
        return QString::fromStdString(resources::shortNumber(value, 2));
    }

private:
    double m_reach;
};

/// NaN stays NaN.
double drawable(double value)
{
    return std::clamp(value, -resources::kFarthest, resources::kFarthest);
}

using Entry = PlotLegend::Entry;

void addOnce(std::vector<Entry>& entries, Entry entry, const std::set<QString>& hidden)
{
    if (!entry.text.isEmpty() && std::ranges::find(entries, entry.key, &Entry::key) == entries.end()) {
        entry.hidden = hidden.contains(entry.key);
        entries.push_back(std::move(entry));
    }
}

/// Return the keys of the curve's entries in the legend: that of its group and that of its number.
QString groupKey(const PlotCurve& curve)
{
    return QString::fromStdString("group " + curve.group);
}

QString numberKey(const PlotCurve& curve)
{
    return QString::fromStdString("number " + curve.number);
}

/// Returns an entry for each group, in the order of their places, and after them, if there are several numbers, one for
/// each number. `hidden` holds keys.
std::vector<Entry> legendEntries(std::vector<const PlotCurve*> curves, const std::set<QString>& hidden,
                                 resources::Theme theme)
{
    std::ranges::stable_sort(curves, {}, &PlotCurve::place);
    std::vector<Entry> entries;
    std::vector<Entry> numbers;
    const QColor neutral = toQColor(resources::themeColours(theme).text); // no curve has this colour; one is grey
    for (const PlotCurve* curve : curves) {
        addOnce(entries,
                {.key = groupKey(*curve),
                 .text = QString::fromStdString(curve->name),
                 .colour = toQColor(resources::curveColour(curve->colour, theme)),
                 .number = curve->colour},
                hidden);
        addOnce(numbers,
                {.key = numberKey(*curve),
                 .text = QString::fromStdString(curve->number),
                 .colour = neutral,
                 .line = penStyleOf(curve->stroke),
                 .marks = curve->marks ? QCPScatterStyle::ssDisc : QCPScatterStyle::ssNone},
                hidden);
    }
    if (numbers.size() > 1) {
        entries.insert(entries.end(), numbers.begin(), numbers.end());
    }
    return entries;
}

void setRange(QCPAxis& axis, resources::AxisRange range)
{
    axis.setRange(range.low, range.high);
}

} // namespace

CurvePlot::CurvePlot(QWidget* parent)
    : Plot(parent),
      m_bands(*this),
      m_legend(new PlotLegend(*this)),
      m_note(*this),
      m_cursor(new QCPItemStraightLine(this)),
      m_readings(new ReadingTable(*this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    setSelectionRectMode(QCP::srmZoom);
    setMouseTracking(true);
    setAutoAddPlottableToLegend(false);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setTicker(shortTicker(axis->scaleType()));
    }
    m_cursor->setLayer(QStringLiteral("overlay")); // above the curves
    m_cursor->setVisible(false);
    connect(this, &QCustomPlot::afterLayout, this, &CurvePlot::resample);
    connect(this, &QCustomPlot::mouseDoubleClick, this, &CurvePlot::showAll);
    connect(this, &Plot::wholeWanted, this, &CurvePlot::showAll);
    connect(this, &QCustomPlot::mouseWheel, this, [this] { setFollowing(false); });
    connect(selectionRect(), &QCPSelectionRect::accepted, this, [this] { setFollowing(false); });
    connect(this, &Plot::pointerLeft, this, [this] {
        selectionRect()->cancel();
        hideCrosshair();
        replotSoon(*this);
    });
    connect(m_legend, &PlotLegend::clicked, this, &CurvePlot::toggle);
    connect(m_legend, &PlotLegend::pointedChanged, this, [this] {
        styleAll();
        replotSoon(*this);
    });
    setTheme(m_theme);
}

void CurvePlot::setSpec(PlotSpec spec)
{
    const bool rescaled = spec.xScale != m_spec.xScale || spec.yScale != m_spec.yScale;
    m_spec = std::move(spec);
    if (rescaled) {
        setScales();
        setFollowing(true);
    }
    xAxis->setLabel(QString::fromStdString(m_spec.xLabel));
    yAxis->setLabel(QString::fromStdString(m_spec.yLabel));
    m_bands.setBands(m_spec.bands);
    m_note.setText(QString::fromStdString(m_spec.note));
    makeGraphs();
    updateHidden();
    restyle();
}

void CurvePlot::hide(std::set<QString> keys)
{
    m_hidden.clear();
    m_toHide = std::move(keys);
    updateHidden();
    restyle();
}

/// Hides the entries that were to be hidden when their curves come, and forgets those whose curves are gone.
void CurvePlot::updateHidden()
{
    std::set<QString> present;
    for (const PlotCurve& curve : m_spec.curves) {
        present.insert({groupKey(curve), numberKey(curve)});
    }
    std::erase_if(m_hidden, [&](const QString& key) { return !present.contains(key); });
    std::erase_if(m_toHide, [&](const QString& key) { return present.contains(key) && m_hidden.insert(key).second; });
}

void CurvePlot::makeGraphs()
{
    for (const Graphs& graphs : m_graphs) {
        graphs.line->setChannelFillGraph(nullptr);
    }
    while (m_graphs.size() > m_spec.curves.size()) {
        removeGraph(m_graphs.back().broken);
        removeGraph(m_graphs.back().line);
        m_graphs.pop_back();
    }
    while (m_graphs.size() < m_spec.curves.size()) {
        const Graphs& added = m_graphs.emplace_back(Graphs{addGraph(), addGraph()});
        added.line->setAdaptiveSampling(false);
        added.broken->setLineStyle(QCPGraph::lsNone);
    }
}

void CurvePlot::style(const PlotCurve& curve, const Graphs& graphs) const
{
    const QColor colour = toQColor(resources::curveColour(curve.colour, m_theme), curve.alpha * strengthOf(curve));
    graphs.line->setVisible(!isHidden(curve));
    graphs.broken->setVisible(!isHidden(curve));
    graphs.line->setPen(curve.fillTo ? QPen(Qt::NoPen) : curvePen(curve.colour, curve.stroke, colour, curve.width));
    graphs.line->setScatterStyle(curve.marks ? QCPScatterStyle(curveMark(curve.colour), colour, colour, 5)
                                             : QCPScatterStyle());
    graphs.line->setChannelFillGraph(curve.fillTo ? m_graphs[*curve.fillTo].line : nullptr);
    graphs.line->setBrush(curve.fillTo ? QBrush(colour) : QBrush());
    graphs.line->setName(QString::fromStdString(curve.name));
    const QColor error = toQColor(resources::themeColours(m_theme).error);
    graphs.broken->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(error, 1.6), Qt::NoBrush, 8));
}

void CurvePlot::styleAll()
{
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        style(m_spec.curves[i], m_graphs[i]);
    }
}

bool CurvePlot::isHidden(const PlotCurve& curve) const
{
    return m_isLeftOut(curve.group) || m_hidden.contains(groupKey(curve)) || m_hidden.contains(numberKey(curve));
}

/// Returns the share of its opacity that a curve is drawn with: less if another entry of the legend is hovered.
double CurvePlot::strengthOf(const PlotCurve& curve) const
{
    const QString& pointed = m_legend->pointed();
    return pointed.isEmpty() || pointed == groupKey(curve) || pointed == numberKey(curve) ? 1 : kBehind;
}

bool CurvePlot::isEmpty() const
{
    return std::ranges::all_of(m_spec.curves,
                               [](const PlotCurve& curve) { return curve.drawn().size() == 0 || !curve.fits; });
}

double CurvePlot::toAxis(double y) const
{
    y = drawable(y);
    if (m_spec.yScale == AxisScale::SymmetricLogarithmic) {
        return std::copysign(std::log10(1 + drawable(std::abs(y) / m_linearReach)), y);
    }
    // A value without a logarithm leaves the picture at the bottom instead of making a gap.
    return m_spec.yScale == AxisScale::Logarithmic && y <= 0 ? std::numeric_limits<double>::min() : y;
}

std::vector<double> CurvePlot::edges(int columns) const
{
    const QCPRange range = xAxis->range();
    const bool logarithmic = xAxis->scaleType() == QCPAxis::stLogarithmic && range.lower > 0;
    std::vector<double> edges(static_cast<std::size_t>(columns) + 1);
    for (int i = 0; i <= columns; ++i) {
        const double share = static_cast<double>(i) / columns;
        edges[static_cast<std::size_t>(i)] =
            logarithmic ? range.lower * std::pow(range.upper / range.lower, share) : range.lower + share * range.size();
    }
    return edges;
}

void CurvePlot::resample()
{
    if (m_graphs.empty()) {
        return;
    }
    const int share = std::max(kFewestColumns, kMostColumns / static_cast<int>(m_graphs.size()));
    const std::vector<double> columns = edges(std::clamp(std::min(axisRect()->width(), share), 1, kMostColumns));
    const double low = yAxis->range().lower;
    const double high = yAxis->range().upper;
    int points = 0;
    QVector<QCPGraphData> drawn;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        const Curve::Sample sample = m_spec.curves[i].drawn().sample(columns);
        drawn.clear();
        drawn.reserve(static_cast<qsizetype>(sample.line.size()));
        for (const auto& [x, y] : sample.line) {
            drawn.append({drawable(x), toAxis(y)});
        }
        m_graphs[i].line->data()->set(drawn, true);
        points += static_cast<int>(drawn.size());
        drawn.clear();
        for (const auto& [x, y] : sample.broken) {
            drawn.append({drawable(x), std::isinf(y) && y > 0 ? high : low});
        }
        m_graphs[i].broken->data()->set(drawn, true);
    }
    setNotAntialiasedElements(points > kSmooth ? QCP::aePlottables : QCP::aeNone);
    m_bands.draw(m_theme);
}

void CurvePlot::refresh()
{
    const bool any = !isEmpty();
    axisRect()->setVisible(any);
    fillLegend();
    if (!any) {
        hideCrosshair();
    }
    if (isFollowing() && any) {
        fitAxes();
    }
    fitTicks(*this);
    replotSoon(*this);
}

/// The legend lists the recorded curves.
void CurvePlot::fillLegend()
{
    std::vector<const PlotCurve*> recorded;
    for (const PlotCurve& curve : m_spec.curves) {
        if (!curve.group.empty() && curve.drawn().size() > 0 && !m_isLeftOut(curve.group)) {
            recorded.push_back(&curve);
        }
    }
    std::vector<PlotLegend::Entry> entries = legendEntries(std::move(recorded), m_hidden, m_theme);
    if (!m_spec.bandTitle.empty() && !m_spec.bands.empty()) {
        const QColor colour = toQColor(resources::themeColours(m_theme).muted, kBandSample);
        entries.push_back(
            {.text = QString::fromStdString(m_spec.bandTitle), .colour = colour, .line = Qt::NoPen, .area = true});
    }
    m_legend->setEntries(isEmpty() ? std::vector<PlotLegend::Entry>() : std::move(entries));
}

void CurvePlot::resizeEvent(QResizeEvent* event)
{
    fitTicks(*this);
    Plot::resizeEvent(event);
}

void CurvePlot::showAll()
{
    setFollowing(true);
    refresh();
}

void CurvePlot::fitAxes()
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool logX = xAxis->scaleType() == QCPAxis::stLogarithmic;
    Curve::Range x{infinity, -infinity};
    Curve::Range y{infinity, -infinity};
    double lastMark = -infinity;
    for (const PlotCurve& shown : m_spec.curves) {
        const Curve& curve = shown.drawn();
        const std::size_t from = logX ? curve.lowerBound(std::numeric_limits<double>::min()) : 0;
        if (from >= curve.size() || !shown.fits || isHidden(shown)) {
            continue;
        }
        x = {std::min(x.low, curve.at(from).x), std::max(x.high, curve.at(curve.size() - 1).x)};
        const Curve::Range range = curve.range(from, curve.size());
        y = {std::min(y.low, range.low), std::max(y.high, range.high)};
        lastMark = shown.marks ? std::max(lastMark, curve.at(curve.size() - 1).x) : lastMark;
    }
    if (lastMark >= x.high && !logX) {
        x.high += (x.high - x.low) * kEndMargin; // its whole mark is in the plot
    }
    setFullRange(x, y);
}

void CurvePlot::setFullRange(Curve::Range x, Curve::Range y)
{
    if (!x.empty()) {
        const bool logarithmic = xAxis->scaleType() == QCPAxis::stLogarithmic;
        setRange(*xAxis,
                 logarithmic ? resources::logRange(x.low, x.high, 0) : resources::linearRange(x.low, x.high, 0));
    }
    if (y.empty()) {
        return;
    }
    if (m_spec.yScale == AxisScale::Logarithmic) {
        setRange(*yAxis, resources::logRange(y.low, y.high, kMargin, m_spec.yBounds));
        return;
    }
    if (m_spec.yScale == AxisScale::SymmetricLogarithmic) {
        const double largest =
            std::clamp(std::max(std::abs(y.low), std::abs(y.high)), resources::kNearest, resources::kFarthest);
        m_linearReach = std::pow(10.0, std::floor(std::log10(largest * kLinearShare)));
        yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new SymmetricTicker(m_linearReach)));
        setRange(*yAxis, resources::linearRange(toAxis(y.low), toAxis(y.high), kMargin));
        return;
    }
    setRange(*yAxis, resources::linearRange(y.low, y.high, kMargin, m_spec.yBounds));
}

void CurvePlot::setScales()
{
    for (const auto& [axis, scale] : {std::pair(xAxis, m_spec.xScale), std::pair(yAxis, m_spec.yScale)}) {
        axis->setScaleType(scale == AxisScale::Logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        axis->setTicker(shortTicker(axis->scaleType()));
    }
}

void CurvePlot::setTheme(resources::Theme theme)
{
    m_theme = theme;
    applyTheme(*this, theme);
    const auto& c = resources::themeColours(theme);
    m_cursor->setPen(QPen(toQColor(c.muted), 1, Qt::DotLine));
    m_readings->setTheme(theme);
    m_legend->setTheme(theme);
    m_note.setTheme(theme);
    styleAll();
    fillLegend();
    replotSoon(*this);
}

/// Fills the table with a row for each group: its numbers at the last point at or before `x`.
void CurvePlot::readAt(double x)
{
    struct Group {
        std::string key;
        std::size_t place;
        ReadingTable::Row row;
    };
    std::vector<Group> groups;
    QStringList columns;
    for (const PlotCurve& curve : m_spec.curves) {
        const QString reading = QString::fromStdString(curve.reading);
        const std::size_t after = curve.drawn().lowerBound(std::nextafter(x, std::numeric_limits<double>::infinity()));
        if (reading.isEmpty() || after == 0 || isHidden(curve)) {
            continue;
        }
        auto group = std::ranges::find(groups, curve.group, &Group::key);
        if (group == groups.end()) {
            const QColor colour = toQColor(resources::curveColour(curve.colour, m_theme));
            group = groups.insert(group, {curve.group, curve.place, {colour, QString::fromStdString(curve.name), {}}});
        }
        if (!columns.contains(reading)) {
            columns << reading;
        }
        const qsizetype column = columns.indexOf(reading);
        group->row.values.resize(std::max(group->row.values.size(), column + 1));
        group->row.values[column] = QString::number(curve.drawn().at(after - 1).y, 'g', 5);
    }
    std::ranges::stable_sort(groups, {}, &Group::place);
    std::vector<ReadingTable::Row> rows;
    std::ranges::transform(groups, std::back_inserter(rows), &Group::row);
    const QString band = m_bands.nameAt(x);
    const QString title = m_xText ? m_xText(x) : QString::number(x, 'g', 6);
    m_readings->setRows(band.isEmpty() ? title : title + QStringLiteral("   ") + band, columns, std::move(rows));
}

void CurvePlot::crosshair(QPointF position)
{
    const double x = xAxis->pixelToCoord(position.x());
    readAt(x);
    const bool shows =
        !m_readings->rows().empty() && m_legend->pointed().isEmpty() && axisRect()->rect().contains(position.toPoint());
    m_cursor->setVisible(shows);
    m_readings->setVisible(shows);
    m_cursor->point1->setCoords(x, yAxis->range().lower);
    m_cursor->point2->setCoords(x, yAxis->range().upper);
    m_readings->moveTo(position);
    replotSoon(*this);
}

void CurvePlot::hideCrosshair()
{
    m_cursor->setVisible(false);
    m_readings->setVisible(false);
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event)
{
    Plot::mouseMoveEvent(event);
    crosshair(event->position());
}

/// Hides the curves of an entry of the legend, or shows them again.
void CurvePlot::toggle(const QString& key)
{
    if (m_hidden.erase(key) == 0) {
        m_hidden.insert(key);
    }
    restyle();
}

void CurvePlot::restyle()
{
    styleAll();
    refresh();
}

void CurvePlot::keyPressEvent(QKeyEvent* event)
{
    constexpr double kPan = 0.15;
    constexpr double kZoom = 0.8;
    const QCPRange range = xAxis->range();
    const double size = range.size();
    switch (event->key()) {
    case Qt::Key_Home:
    case Qt::Key_F:
        showAll();
        return;
    case Qt::Key_Left:
    case Qt::Key_Right:
        setFollowing(false);
        xAxis->moveRange(event->key() == Qt::Key_Left ? -kPan * size : kPan * size);
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        setFollowing(false);
        xAxis->scaleRange(kZoom, range.center());
        break;
    case Qt::Key_Minus:
        setFollowing(false);
        xAxis->scaleRange(1 / kZoom, range.center());
        break;
    default:
        Plot::keyPressEvent(event);
        return;
    }
    replotSoon(*this);
}

} // namespace residua::visualizers
