// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/plot/curve_plot.h"

#include "resources/axis.h"
#include "visualizers/plot/legend_place.h"
#include "visualizers/plot/plot_style.h"
#include "visualizers/plot/short_ticker.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::visualizers {
namespace {

constexpr double kMargin = 0.04;      ///< room above and below the curves, as a share of their range
constexpr double kLinearShare = 1e-4; ///< of the largest value, below which a symmetric logarithm is linear
constexpr int kFewestColumns = 200;   ///< of a curve, however many there are
constexpr int kMostColumns = 24'000;  ///< of all curves together
constexpr double kLegendShare = 0.5;  ///< of the width that a name in the legend may take
constexpr int kNarrowestName = 80;    ///< pixels
constexpr int kNotePadding = 6;       ///< pixels
constexpr int kReadings = 12;         ///< runs beside the crosshair
constexpr double kBeside = 10;        ///< pixels between the crosshair and what is read there
constexpr int kSmooth = 20'000;       ///< points up to which lines are antialiased

// Positions are symmetric logarithms: labels say the values.
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

/// NaN stays.
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
      m_noteItem(new QCPItemText(this)),
      m_cursor(new QCPItemStraightLine(this)),
      m_values(new QCPItemText(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    setSelectionRectMode(QCP::srmZoom);
    setMouseTracking(true);
    legend->setVisible(true);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setTicker(shortTicker(axis->scaleType()));
    }
    axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignTop | Qt::AlignRight);
    for (QCPAbstractItem* item : std::initializer_list<QCPAbstractItem*>{m_cursor, m_values}) {
        item->setLayer(QStringLiteral("overlay")); // above the curves
        item->setVisible(false);
    }
    m_noteItem->setLayer(QStringLiteral("overlay"));
    m_noteItem->setVisible(false);
    m_noteItem->position->setType(QCPItemPosition::ptAxisRectRatio);
    m_noteItem->position->setCoords(0, 1);
    m_noteItem->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    m_noteItem->setPadding(QMargins(kNotePadding, 2, kNotePadding, 2));
    m_noteItem->setTextAlignment(Qt::AlignLeft);
    connect(this, &QCustomPlot::afterLayout, this, &CurvePlot::wrapNote);
    m_values->position->setTypeX(QCPItemPosition::ptAbsolute);
    m_values->position->setTypeY(QCPItemPosition::ptAbsolute);
    m_values->setPadding(QMargins(6, 4, 6, 4));
    m_values->setTextAlignment(Qt::AlignLeft);
    connect(this, &QCustomPlot::afterLayout, this, &CurvePlot::resample);
    connect(this, &QCustomPlot::mouseDoubleClick, this, &CurvePlot::showAll);
    connect(this, &QCustomPlot::mouseWheel, this, [this] { m_following = false; });
    connect(selectionRect(), &QCPSelectionRect::accepted, this, [this] { m_following = false; });
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
    const QColor colour = toQColor(shown.look.colour, shown.look.alpha);
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
    shown.broken->removeFromLegend();
    shown.look.name.isEmpty() ? (void)shown.line->removeFromLegend() : (void)shown.line->addToLegend();
    const QColor error = toQColor(resources::themeColours(m_theme).error);
    shown.broken->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCross, QPen(error, 1.6), Qt::NoBrush, 8));
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
    // What has no logarithm runs out of the picture instead of leaving a hole.
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
    keepLegendClear(*this);
    drawBands();
}

void CurvePlot::refresh()
{
    const bool any = !isEmpty();
    axisRect()->setVisible(any);
    fitLegend();
    if (!any) {
        hideCrosshair();
    }
    if (m_following && any) {
        fitAxes();
    }
    fitTicks(*this);
    replotSoon(*this);
}

/// Names give way in a narrow plot, and the legend where it has no room: the crosshair names the curves too.
void CurvePlot::fitLegend()
{
    const int widest = std::max(static_cast<int>(width() * kLegendShare), kNarrowestName);
    int names = 0;
    int longest = 0;
    for (auto& [id, shown] : m_curves) {
        const QString name = fontMetrics().elidedText(shown.look.name, Qt::ElideMiddle, widest);
        shown.line->setName(name);
        names += name.isEmpty() ? 0 : 1;
        longest = std::max(longest, fontMetrics().horizontalAdvance(name));
    }
    arrangeLegend(*this, isEmpty() ? 0 : names, longest);
}

void CurvePlot::resizeEvent(QResizeEvent* event)
{
    fitLegend();
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
    for (const auto& [id, shown] : m_curves) {
        const Curve& curve = *shown.curve;
        const std::size_t from = logX ? curve.lowerBound(std::numeric_limits<double>::min()) : 0;
        if (from >= curve.size() || !shown.look.fits) {
            continue;
        }
        x = {std::min(x.low, curve.at(from).x), std::max(x.high, curve.at(curve.size() - 1).x)};
        const Curve::Range range = curve.range(from, curve.size());
        y = {std::min(y.low, range.low), std::max(y.high, range.high)};
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
    m_values->setColor(toQColor(c.text));
    m_values->setBrush(toQColor(c.raised)); // it may lie over the legend
    m_values->setPen(toQColor(c.border));
    m_values->setFont(font());
    m_noteItem->setColor(toQColor(c.muted));
    m_noteItem->setBrush(toQColor(c.surface, 0.8));
    m_noteItem->setPen(Qt::NoPen);
    m_noteItem->setFont(font());
    for (auto& [id, shown] : m_curves) {
        style(shown);
    }
    replotSoon(*this);
}

void CurvePlot::setBands(std::vector<Band> bands)
{
    m_bands = std::move(bands);
    replotSoon(*this);
}

void CurvePlot::setNote(const QString& note)
{
    m_note = note;
    m_noteItem->setVisible(!note.isEmpty());
    wrapNote();
}

/// An item of a plot breaks no lines by itself.
void CurvePlot::wrapNote()
{
    const int room = axisRect()->width() - 2 * kNotePadding;
    const QFontMetrics metrics(m_noteItem->font());
    QString wrapped;
    QString line;
    for (const QString& word : m_note.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
        if (!line.isEmpty() && metrics.horizontalAdvance(longer) > room) {
            wrapped += line + QLatin1Char('\n');
            line = word;
        } else {
            line = longer;
        }
    }
    m_noteItem->setText(wrapped + line);
}

// Few, and their ends depend on the axis: made anew.
void CurvePlot::drawBands()
{
    for (QCPAbstractItem* item : m_bandItems) {
        removeItem(item);
    }
    m_bandItems.clear();
    const auto& c = resources::themeColours(m_theme);
    for (std::size_t i = 0; i < m_bands.size(); ++i) {
        const double to =
            i + 1 < m_bands.size() ? m_bands[i + 1].from : std::max(xAxis->range().upper, m_bands[i].from);
        if (i % 2 == 1) {
            auto* shade = new QCPItemRect(this);
            shade->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
            shade->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
            shade->topLeft->setCoords(m_bands[i].from, 0);
            shade->bottomRight->setCoords(to, 1);
            shade->setPen(Qt::NoPen);
            shade->setBrush(toQColor(c.muted, 0.10));
            shade->setLayer(QStringLiteral("background"));
            m_bandItems.push_back(shade);
        }
        auto* name = new QCPItemText(this);
        name->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
        // A band that begins before the picture has its name at the picture's edge.
        const double from =
            to > xAxis->range().lower ? std::max(m_bands[i].from, xAxis->range().lower) : m_bands[i].from;
        name->position->setCoords(from, 0);
        name->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        name->setPadding(QMargins(4, 2, 0, 0));
        name->setText(m_bands[i].name);
        name->setColor(toQColor(c.muted));
        name->setFont(font());
        m_bandItems.push_back(name);
    }
}

/// A line a run: what it is at the last point at or before the pointer, what was known then.
QStringList CurvePlot::readingsAt(double x) const
{
    std::vector<std::pair<QString, QStringList>> lines;
    for (const auto& [id, shown] : m_curves) {
        const std::size_t after = shown.curve->lowerBound(std::nextafter(x, std::numeric_limits<double>::infinity()));
        if (shown.look.reading.isEmpty() || after == 0) {
            continue;
        }
        auto line = std::ranges::find(lines, shown.look.run, &std::pair<QString, QStringList>::first);
        if (line == lines.end()) {
            line = lines.insert(lines.end(), {shown.look.run, {}});
        }
        line->second << shown.look.reading + QLatin1Char(' ') + QString::number(shown.curve->at(after - 1).y, 'g', 5);
    }
    QStringList texts;
    for (const auto& [run, readings] : lines) {
        const QStringList named = run.isEmpty() ? readings : QStringList(run) + readings;
        texts << named.join(QStringLiteral("   "));
    }
    return texts.mid(0, kReadings);
}

void CurvePlot::crosshair(QPointF position)
{
    const double x = xAxis->pixelToCoord(position.x());
    const QStringList lines = QStringList(m_xText ? m_xText(x) : QString::number(x, 'g', 6)) + readingsAt(x);
    const QRect rect = axisRect()->rect();
    const bool shows = lines.size() > 1 && rect.contains(position.toPoint());
    m_cursor->setVisible(shows);
    m_values->setVisible(shows);
    m_cursor->point1->setCoords(x, yAxis->range().lower);
    m_cursor->point2->setCoords(x, yAxis->range().upper);
    m_values->setText(lines.join(QLatin1Char('\n')));
    const QSizeF size = fontMetrics().size(0, m_values->text()).grownBy(m_values->padding());
    const double beside =
        position.x() > rect.center().x() ? position.x() - kBeside - size.width() : position.x() + kBeside;
    const double left = std::max<double>(std::min(beside, rect.right() - size.width()), rect.left());
    m_values->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_values->position->setCoords(left, position.y());
    replotSoon(*this);
}

void CurvePlot::hideCrosshair()
{
    m_cursor->setVisible(false);
    m_values->setVisible(false);
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event)
{
    Plot::mouseMoveEvent(event);
    crosshair(event->position());
}

void CurvePlot::leaveEvent(QEvent* event)
{
    Plot::leaveEvent(event);
    hideCrosshair();
    replotSoon(*this);
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
