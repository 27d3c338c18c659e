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
    connect(this, &QCustomPlot::mouseWheel, this, [this] { m_following = false; });
    connect(selectionRect(), &QCPSelectionRect::accepted, this, [this] { m_following = false; });
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

CurvePlot::Id CurvePlot::add(const Curve& curve, const Look& look)
{
    const Id id{m_next++};
    Shown& shown = m_curves[id];
    shown = {&curve, look, addGraph(), addGraph()};
    shown.line->setAdaptiveSampling(false);
    shown.broken->setLineStyle(QCPGraph::lsNone);
    style(shown);
    return id;
}

void CurvePlot::setLook(Id id, const Look& look)
{
    Shown& shown = m_curves.at(id);
    if (shown.look != look) {
        shown.look = look;
        style(shown);
    }
}

void CurvePlot::remove(Id id)
{
    const auto found = m_curves.find(id);
    if (found == m_curves.end()) {
        return;
    }
    for (auto& [other, shown] : m_curves) {
        if (shown.line->channelFillGraph() == found->second.line) {
            shown.line->setChannelFillGraph(nullptr);
        }
    }
    removeGraph(found->second.line);
    removeGraph(found->second.broken);
    m_curves.erase(found);
}

void CurvePlot::style(Shown& shown) const
{
    const QColor colour = toQColor(shown.look.colour, shown.look.alpha * strengthOf(shown.look));
    shown.line->setVisible(!isHidden(shown.look));
    shown.broken->setVisible(!isHidden(shown.look));
    shown.line->setPen(QPen(colour, shown.look.width, shown.look.line));
    shown.line->setScatterStyle(shown.look.marks ? QCPScatterStyle(QCPScatterStyle::ssDisc, colour, colour, 5)
                                                 : QCPScatterStyle());
    const auto filledTo = shown.look.fillTo ? m_curves.find(*shown.look.fillTo) : m_curves.end();
    const bool fills = filledTo != m_curves.end();
    shown.line->setChannelFillGraph(fills ? filledTo->second.line : nullptr);
    shown.line->setBrush(fills ? QBrush(colour) : QBrush());
    if (fills) {
        shown.line->setPen(Qt::NoPen);
    }
    shown.line->setName(shown.look.name);
    const QColor error = toQColor(resources::themeColours(m_theme).error);
    shown.broken->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(error, 1.6), Qt::NoBrush, 8));
}

void CurvePlot::styleAll()
{
    for (auto& [id, shown] : m_curves) {
        style(shown);
    }
}

bool CurvePlot::isHidden(const Look& look) const
{
    return m_isLeftOut(look.group) || m_hidden.contains(groupKey(look)) || m_hidden.contains(numberKey(look));
}

/// Returns the share of its opacity that a curve is drawn with: less if another entry of the legend is hovered.
double CurvePlot::strengthOf(const Look& look) const
{
    const QString& pointed = m_legend->pointed();
    return pointed.isEmpty() || pointed == groupKey(look) || pointed == numberKey(look) ? 1 : kBehind;
}

bool CurvePlot::isEmpty() const
{
    return std::ranges::all_of(
        m_curves, [](const auto& item) { return item.second.curve->size() == 0 || !item.second.look.fits; });
}

double CurvePlot::toAxis(double y) const
{
    y = drawable(y);
    if (m_scaleY == AxisScale::SymmetricLogarithmic) {
        return std::copysign(std::log10(1 + drawable(std::abs(y) / m_linearReach)), y);
    }
    // A value without a logarithm leaves the picture at the bottom instead of making a gap.
    return m_scaleY == AxisScale::Logarithmic && y <= 0 ? std::numeric_limits<double>::min() : y;
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
    if (m_curves.empty()) {
        return;
    }
    const int share = std::max(kFewestColumns, kMostColumns / static_cast<int>(m_curves.size()));
    const std::vector<double> columns = edges(std::clamp(std::min(axisRect()->width(), share), 1, kMostColumns));
    const double low = yAxis->range().lower;
    const double high = yAxis->range().upper;
    int points = 0;
    QVector<QCPGraphData> drawn;
    for (auto& [id, shown] : m_curves) {
        const Curve::Sample sample = shown.curve->sample(columns);
        drawn.clear();
        drawn.reserve(static_cast<qsizetype>(sample.line.size()));
        for (const auto& [x, y] : sample.line) {
            drawn.append({drawable(x), toAxis(y)});
        }
        shown.line->data()->set(drawn, true);
        points += static_cast<int>(drawn.size());
        drawn.clear();
        for (const auto& [x, y] : sample.broken) {
            drawn.append({drawable(x), std::isinf(y) && y > 0 ? high : low});
        }
        shown.broken->data()->set(drawn, true);
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
    if (m_following && any) {
        fitAxes();
    }
    fitTicks(*this);
    replotSoon(*this);
}

/// The legend lists the recorded curves.
void CurvePlot::fillLegend()
{
    std::erase_if(m_hidden, [this](const QString& key) {
        return std::ranges::none_of(m_curves, [&key](const auto& item) {
            return groupKey(item.second.look) == key || numberKey(item.second.look) == key;
        });
    });
    std::vector<const Look*> recorded;
    for (const auto& [id, shown] : m_curves) {
        if (!shown.look.group.isEmpty() && shown.curve->size() > 0 && !m_isLeftOut(shown.look.group)) {
            recorded.push_back(&shown.look);
        }
    }
    std::vector<PlotLegend::Entry> entries = legendEntries(std::move(recorded), m_hidden, m_theme);
    if (!m_bandTitle.isEmpty() && !m_bands.isEmpty()) {
        const QColor colour = toQColor(resources::themeColours(m_theme).muted, kBandSample);
        entries.push_back({.text = m_bandTitle, .colour = colour, .line = Qt::NoPen, .area = true});
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
    m_following = true;
    refresh();
}

void CurvePlot::fitAxes()
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool logX = xAxis->scaleType() == QCPAxis::stLogarithmic;
    Curve::Range x{infinity, -infinity};
    Curve::Range y{infinity, -infinity};
    double lastMark = -infinity;
    for (const auto& [id, shown] : m_curves) {
        const Curve& curve = *shown.curve;
        const std::size_t from = logX ? curve.lowerBound(std::numeric_limits<double>::min()) : 0;
        if (from >= curve.size() || !shown.look.fits || isHidden(shown.look)) {
            continue;
        }
        x = {std::min(x.low, curve.at(from).x), std::max(x.high, curve.at(curve.size() - 1).x)};
        const Curve::Range range = curve.range(from, curve.size());
        y = {std::min(y.low, range.low), std::max(y.high, range.high)};
        lastMark = shown.look.marks ? std::max(lastMark, curve.at(curve.size() - 1).x) : lastMark;
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
    if (m_scaleY == AxisScale::Logarithmic) {
        setRange(*yAxis, resources::logRange(y.low, y.high, kMargin));
        return;
    }
    if (m_scaleY == AxisScale::SymmetricLogarithmic) {
        const double largest =
            std::clamp(std::max(std::abs(y.low), std::abs(y.high)), resources::kNearest, resources::kFarthest);
        m_linearReach = std::pow(10.0, std::floor(std::log10(largest * kLinearShare)));
        yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new SymmetricTicker(m_linearReach)));
        y = {toAxis(y.low), toAxis(y.high)};
    }
    setRange(*yAxis, resources::linearRange(y.low, y.high, kMargin));
}

void CurvePlot::setScaleX(AxisScale scale)
{
    xAxis->setScaleType(scale == AxisScale::Logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    xAxis->setTicker(shortTicker(xAxis->scaleType()));
    showAll();
}

void CurvePlot::setScaleY(AxisScale scale)
{
    m_scaleY = scale;
    const bool logarithmic = scale == AxisScale::Logarithmic;
    yAxis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    yAxis->setTicker(shortTicker(yAxis->scaleType()));
    showAll();
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

void CurvePlot::setBands(std::vector<Band> bands, const QString& title)
{
    m_bands.setBands(std::move(bands));
    m_bandTitle = title;
    replotSoon(*this);
}

/// Fills the table with a row for each group: its numbers at the last point at or before `x`.
void CurvePlot::readAt(double x)
{
    struct Group {
        QString key;
        std::size_t place;
        ReadingTable::Row row;
    };
    std::vector<Group> groups;
    QStringList columns;
    for (const auto& [id, shown] : m_curves) {
        const Look& look = shown.look;
        const std::size_t after = shown.curve->lowerBound(std::nextafter(x, std::numeric_limits<double>::infinity()));
        if (look.reading.isEmpty() || after == 0 || isHidden(look)) {
            continue;
        }
        auto group = std::ranges::find(groups, look.group, &Group::key);
        if (group == groups.end()) {
            group = groups.insert(group, {look.group, look.place, {toQColor(look.colour), look.name, {}}});
        }
        if (!columns.contains(look.reading)) {
            columns << look.reading;
        }
        const qsizetype column = columns.indexOf(look.reading);
        group->row.values.resize(std::max(group->row.values.size(), column + 1));
        group->row.values[column] = QString::number(shown.curve->at(after - 1).y, 'g', 5);
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
        m_following = false;
        xAxis->moveRange(event->key() == Qt::Key_Left ? -kPan * size : kPan * size);
        break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        m_following = false;
        xAxis->scaleRange(kZoom, range.center());
        break;
    case Qt::Key_Minus:
        m_following = false;
        xAxis->scaleRange(1 / kZoom, range.center());
        break;
    default:
        Plot::keyPressEvent(event);
        return;
    }
    replotSoon(*this);
}

} // namespace residua::visualizers
