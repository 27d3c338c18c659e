// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_grid.h"

#include "visualizers/plot/plot_controls.h"

#include <QLabel>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kColourBarWidth = 10;
constexpr int kEndDigits = 7;         ///< as many as an end of a scale has
constexpr int kMostNamedClasses = 30; ///< named at the axes
constexpr int kFewestDecimals = 2;    ///< of a number in a cell
constexpr int kTurnOfNames = -45;     ///< degrees
constexpr int kWidestName = 90;       ///< pixels
constexpr int kAxesHeight = 50;       ///< pixels; the numbers and the name below the map, and its margins

/// Returns the range of a colour map of `count` cells: from centre to centre, or the whole of a single cell.
QCPRange centresFrom(double first, int count)
{
    return count > 1 ? QCPRange(first, first + count - 1) : QCPRange(first - 0.5, first + 0.5);
}

/// Integers from another first number than the coordinates, or the names of what they count.
class NumberTicker final : public QCPAxisTickerFixed {
public:
    NumberTicker(int first, int firstNumber, QStringList names)
        : m_offset(firstNumber - first), m_firstNumber(firstNumber), m_names(std::move(names))
    {
        const int offset = m_offset;
        setTickStep(1);
        setTickOrigin(-offset);
        setScaleStrategy(ssMultiples);
    }

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override
    {
        const long number = std::lround(tick) + m_offset;
        return m_names.value(number - m_firstNumber, QString::number(number));
    }

private:
    int m_offset;
    int m_firstNumber;
    QStringList m_names;
};

/// The words of two axes, and the numbers of the first column and row.
struct Titles {
    QString columns;
    QString rows;
    int firstColumn = 1;
    int firstRow = 1;
};

Titles titlesOf(HeatmapAxes axes)
{
    switch (axes) {
    case HeatmapAxes::Shortcuts:
        return {HeatmapGrid::tr("source i (0: the input)"), HeatmapGrid::tr("target j"), 0, 1};
    case HeatmapAxes::Classes:
        return {HeatmapGrid::tr("predicted class"), HeatmapGrid::tr("true class"), 0, 0};
    case HeatmapAxes::Places:
        return {HeatmapGrid::tr("column (x)"), HeatmapGrid::tr("row (y)"), 0, 0};
    case HeatmapAxes::Layers:
        return {HeatmapGrid::tr("layer"), {}};
    case HeatmapAxes::Streams:
        return {HeatmapGrid::tr("stream"), HeatmapGrid::tr("layer")};
    case HeatmapAxes::Other:
        break;
    }
    return {HeatmapGrid::tr("column"), HeatmapGrid::tr("row")};
}

/// The names of the cells of a picture of episodes, by their values.
std::vector<std::pair<float, QString>> placeNames()
{
    std::vector<std::pair<float, QString>> names;
    for (const auto& [value, name] : engine::matrix::kRolloutCells) {
        names.emplace_back(value, HeatmapGrid::tr(name));
    }
    return names;
}

} // namespace

HeatmapAxes axesOf(const engine::MatrixName& name)
{
    const bool streams = name.kind == engine::matrix::kStreamRead || name.kind == engine::matrix::kStreamWrite;
    return name.isOfShortcuts()                    ? HeatmapAxes::Shortcuts
           : name.kind == engine::matrix::kRollout ? HeatmapAxes::Places
           : name.isOfOutputs()                    ? HeatmapAxes::Classes
           : name.kind == engine::matrix::kActive  ? HeatmapAxes::Layers
           : streams                               ? HeatmapAxes::Streams
                                                   : HeatmapAxes::Other;
}

HeatmapGrid::HeatmapGrid(const QString& invitation, QWidget* parent)
    : Plot(parent),
      m_invitation(inviteOver(*this, invitation)),
      m_map(new QCPColorMap(xAxis, yAxis)),
      m_scale(new QCPColorScale(this)),
      m_labels(new CellLabels(m_map)),
      m_outline(new QCPItemRect(this))
{
    setAttribute(Qt::WA_NoMousePropagation, false); // the menu is the view's
    axisRect()->setupFullAxesBox(false);
    for (QCPAxis* axis : {xAxis2, yAxis2}) {
        axis->setTicks(false);
    }
    plotLayout()->addElement(0, 1, m_scale);
    m_scale->setType(QCPAxis::atRight);
    m_scale->setBarWidth(kColourBarWidth);
    // Colour bar and map have the same height.
    auto* margins = new QCPMarginGroup(this);
    axisRect()->setMarginGroup(QCP::msBottom | QCP::msTop, margins);
    m_scale->setMarginGroup(QCP::msBottom | QCP::msTop, margins);
    m_map->setColorScale(m_scale);
    m_map->setInterpolate(false);
    m_map->setTightBoundary(false);
    yAxis->setRangeReversed(true);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->grid()->setVisible(false);
    }
    nameAxes();
    m_labels->setClipToAxisRect(true);
    m_outline->setVisible(false);
    connect(this, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) { hover(event->position()); });
    connect(this, &Plot::pointerLeft, this, [this] { point(-1, -1); });
    setAnyVisible(false);
}

/// Names up to kMostNamedClasses classes in full, or every n-th of them if names would overlap. More of them are
/// numbered, and named at the pointer.
void HeatmapGrid::nameAxes()
{
    const QStringList& classes = m_picture.classes;
    const bool named = !classes.isEmpty() && classes.size() <= kMostNamedClasses;
    const Titles titles = titlesOf(m_picture.axes);
    xAxis->setLabel(titles.columns);
    yAxis->setLabel(titles.rows);
    yAxis->setTicks(m_picture.axes != HeatmapAxes::Layers);
    yAxis->setTickLabels(m_picture.axes != HeatmapAxes::Layers);
    xAxis->setTickLabelRotation(named ? kTurnOfNames : 0);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        const int first = axis == yAxis ? 1 : 0; // the coordinate of the first row or column
        if (!named) {
            axis->setTicker(QSharedPointer<QCPAxisTicker>(
                new NumberTicker(first, axis == yAxis ? titles.firstRow : titles.firstColumn,
                                 namesOf(axis == yAxis ? Qt::Vertical : Qt::Horizontal))));
            continue;
        }
        const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
        const int pixels = axis == yAxis ? height() - kAxesHeight - kWidestName : width() - 2 * kWidestName;
        const int step = std::max(1, static_cast<int>(std::ceil(1.0 * fontMetrics().height() * classes.size() /
                                                                std::max(pixels, fontMetrics().height()))));
        for (int i = 0; i < classes.size(); i += step) {
            ticker->addTick(first + i, fontMetrics().elidedText(classes[i], Qt::ElideRight, kWidestName));
        }
        axis->setTicker(ticker);
    }
    if (!named) {
        fitTicks(*this);
    }
}

void HeatmapGrid::setAnyVisible(bool any)
{
    m_any = any;
    m_invitation->setVisible(!any);
    axisRect()->setVisible(any);
    m_map->setVisible(any);
    m_scale->setVisible(any);
    m_labels->setVisible(any);
}

void HeatmapGrid::setNothing()
{
    setAnyVisible(false);
    emit readingChanged({});
    replotSoon(*this);
}

void HeatmapGrid::setPicture(const Picture& picture)
{
    setAnyVisible(true);
    const bool otherAxes = m_picture.axes != picture.axes || m_picture.classes != picture.classes ||
                           m_picture.layerNames != picture.layerNames;
    m_picture = picture;
    if (otherAxes) {
        nameAxes();
    }
    m_map->data()->setSize(picture.columns, picture.rows);
    m_map->data()->setRange(centresFrom(0, picture.columns), centresFrom(1, picture.rows));
    auto number = picture.cells.begin();
    for (int row = 0; row < picture.rows; ++row) {
        for (int column = 0; column < picture.columns; ++column, ++number) {
            m_map->data()->setCell(column, row, *number);
        }
    }
    const bool counts = picture.axes == HeatmapAxes::Classes;
    const int decimals = counts ? 0 : projects::decimalsOf(picture.scale);
    m_labels->setNumbers(picture.cells, decimals, counts ? 0 : std::max(decimals - 1, kFewestDecimals));
    setColours();
    fitLabel();
    xAxis->setRange(-0.5, picture.columns - 0.5);
    yAxis->setRange(0.5, picture.rows + 0.5);
    tellReading();
    replotSoon(*this);
}

/// The bar has numbers in its middle and at its ends, which enclose every value. Counts have whole numbers, and
/// pictures of episodes the names of their cells.
void HeatmapGrid::setColours()
{
    const projects::WeightScale& scale = m_picture.scale;
    m_map->setGradient(gradientFor(scale.centre ? Scale::Signed : Scale::Magnitude, m_theme));
    const bool nothing = !scale.centre && scale.low == 0 && scale.high <= 0; // shown as the lowest colour
    const resources::AxisRange range =
        nothing ? resources::AxisRange() : resources::linearRange(scale.low, std::max(scale.low, scale.high), 0);
    m_map->setDataRange({range.low, range.high});
    const QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    m_scale->axis()->setTicker(ticker);
    if (m_picture.axes == HeatmapAxes::Places) {
        for (const auto& [value, name] : placeNames()) {
            ticker->addTick(static_cast<double>(value), name);
        }
        return;
    }
    const bool counts = m_picture.axes == HeatmapAxes::Classes;
    for (const double at : {range.low, (range.low + range.high) / 2, range.high}) {
        if (counts && at != std::round(at)) {
            continue;
        }
        ticker->addTick(at, QString::fromStdString(resources::shortNumber(at, kEndDigits)));
    }
}

/// Hides the label if it is longer than the bar and would be cut off. The choice above the plot shows the same text.
void HeatmapGrid::fitLabel()
{
    const bool fits = fontMetrics().horizontalAdvance(m_picture.label) <= height() - kAxesHeight;
    m_scale->axis()->setLabel(fits ? m_picture.label : QString());
}

void HeatmapGrid::resizeEvent(QResizeEvent* event)
{
    fitLabel();
    nameAxes();
    Plot::resizeEvent(event);
}

bool HeatmapGrid::holds(int row, int column) const
{
    return m_any && row >= 0 && column >= 0 && row < m_map->data()->valueSize() && column < m_map->data()->keySize();
}

double HeatmapGrid::numberOf(int row, int column) const
{
    return m_picture.cells[static_cast<std::size_t>(row * m_map->data()->keySize() + column)];
}

void HeatmapGrid::hover(const QPointF& position)
{
    int column = -1;
    int row = -1;
    if (m_any && axisRect()->rect().contains(position.toPoint())) {
        column = static_cast<int>(std::lround(xAxis->pixelToCoord(position.x())));
        row = static_cast<int>(std::lround(yAxis->pixelToCoord(position.y()))) - 1;
        if (!holds(row, column) || std::isnan(numberOf(row, column))) {
            column = row = -1;
        }
    }
    point(row, column);
}

void HeatmapGrid::point(int row, int column)
{
    if (row == m_pointedRow && column == m_pointedColumn) {
        return;
    }
    m_pointedRow = row;
    m_pointedColumn = column;
    outline(row, column);
    emit cellPointed(row, column);
}

void HeatmapGrid::moveCell(int rows, int columns)
{
    if (!m_any) {
        return;
    }
    const bool pointed = m_pointedRow >= 0;
    int row = (pointed ? m_pointedRow : -rows) + rows;
    int column = (pointed ? m_pointedColumn : -columns) + columns;
    for (; holds(row, column); row += rows, column += columns) {
        if (!std::isnan(numberOf(row, column))) {
            point(row, column);
            return;
        }
    }
}

void HeatmapGrid::outline(int row, int column)
{
    m_markedRow = row;
    m_markedColumn = column;
    tellReading();
    m_outline->setVisible(holds(row, column));
    m_outline->topLeft->setCoords(column - 0.5, row + 0.5);
    m_outline->bottomRight->setCoords(column + 0.5, row + 1.5);
    replotSoon(*this);
}

void HeatmapGrid::tellReading()
{
    if (!holds(m_markedRow, m_markedColumn)) {
        emit readingChanged({});
        return;
    }
    const double number = numberOf(m_markedRow, m_markedColumn);
    QString text = m_picture.axes == HeatmapAxes::Classes
                       ? QString::number(number, 'f', 0)
                       : QString::fromStdString(projects::weightText(number, m_picture.scale));
    if (m_picture.axes == HeatmapAxes::Places) {
        for (const auto& [value, name] : placeNames()) {
            text = number == static_cast<double>(value) ? name : text;
        }
    }
    emit readingChanged(tr("%1 = %2").arg(nameOfCell(m_markedRow, m_markedColumn), text));
}

QStringList HeatmapGrid::namesOf(Qt::Orientation direction) const
{
    const ShownRuns::LayerNames& names = m_picture.layerNames;
    const bool columns = direction == Qt::Horizontal;
    switch (m_picture.axes) {
    case HeatmapAxes::Shortcuts:
        return columns ? names.entries : names.readers;
    case HeatmapAxes::Layers:
        return columns ? names.layers : QStringList();
    case HeatmapAxes::Streams:
        return columns ? QStringList() : names.layers;
    case HeatmapAxes::Classes:
    case HeatmapAxes::Places:
    case HeatmapAxes::Other:
        break;
    }
    return {};
}

QString HeatmapGrid::nameOfCell(int row, int column) const
{
    const Titles titles = titlesOf(m_picture.axes);
    const QString rowName = namesOf(Qt::Vertical).value(row, QString::number(row + titles.firstRow));
    switch (m_picture.axes) {
    case HeatmapAxes::Shortcuts:
        return tr("%1:%2").arg(namesOf(Qt::Horizontal).value(column, QString::number(column)), rowName);
    case HeatmapAxes::Classes:
        return tr("%1 predicted as %2").arg(m_picture.classes[row], m_picture.classes[column]);
    case HeatmapAxes::Layers:
        return tr("%1 %2").arg(titles.columns, namesOf(Qt::Horizontal).value(column, QString::number(column + 1)));
    case HeatmapAxes::Streams:
    case HeatmapAxes::Places:
    case HeatmapAxes::Other:
        break;
    }
    return tr("%1 %2, %3 %4").arg(titles.rows, rowName, titles.columns).arg(column + titles.firstColumn);
}

void HeatmapGrid::setTheme(resources::Theme theme)
{
    m_theme = theme;
    applyTheme(*this, theme);
    const auto& c = resources::themeColours(theme);
    QCPAxis& axis = *m_scale->axis();
    axis.setTickLabelColor(toQColor(c.muted));
    axis.setTickPen(toQColor(c.border));
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLabelFont(font());
    axis.setLabelColor(toQColor(c.text));
    axis.setLabelFont(font());
    for (QCPAxis* side : axis.axisRect()->axes()) {
        side->setBasePen(toQColor(c.border));
    }
    m_outline->setPen(QPen(toQColor(c.accent), 2));
    setMuted(*m_invitation, theme);
}

} // namespace residua::visualizers
