// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap_frames.h"
#include "visualizers/plot_style.h"
#include "visualizers/views.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr int kPlayInterval = 60;        ///< ms between frames while playing
constexpr double kSmallestLabelled = 38; ///< pixels a cell needs before its number is written in it
constexpr int kColourBarWidth = 10;

// The cells' numbers, written where there is room for them.
class CellLabels final : public QCPAbstractItem {
public:
    explicit CellLabels(QCPColorMap* map) : QCPAbstractItem(map->parentPlot()), m_map(map) { setSelectable(false); }

    double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }

protected:
    void draw(QCPPainter* painter) override
    {
        QCPColorMapData& data = *m_map->data();
        const QCPAxis& x = *m_map->keyAxis();
        const QCPAxis& y = *m_map->valueAxis();
        const double width = std::abs(x.coordToPixel(1) - x.coordToPixel(0));
        const double height = std::abs(y.coordToPixel(1) - y.coordToPixel(0));
        if (width < kSmallestLabelled || height < painter->fontMetrics().height() + 2) {
            return;
        }
        const QCPRange range = m_map->dataRange();
        QCPColorGradient gradient = m_map->gradient();
        for (int column = 0; column < data.keySize(); ++column) {
            for (int row = 0; row < data.valueSize(); ++row) {
                const double value = data.cell(column, row);
                if (std::isnan(value)) {
                    continue;
                }
                const QColor ground(gradient.color(value, range));
                painter->setPen(ground.lightnessF() > 0.5F ? Qt::black : Qt::white);
                double key = 0;
                double at = 0;
                m_map->data()->cellToCoord(column, row, &key, &at);
                const QRectF cell(x.coordToPixel(key) - width / 2, y.coordToPixel(at) - height / 2, width, height);
                painter->drawText(cell, Qt::AlignCenter, QString::number(value, 'f', 2));
            }
        }
    }

private:
    QCPColorMap* m_map;
};

} // namespace

class HeatmapView::Impl {
public:
    explicit Impl(HeatmapView* view);

    void refreshNames();
    void frameArrived();
    void show();
    void hover(QMouseEvent* event);
    void outline(int row, int column);
    void retheme();

    HeatmapFrames frames;
    QCustomPlot* plot;
    QComboBox* name;
    QComboBox* value;
    QToolButton* play;
    QSlider* scrubber;
    QLabel* stepLabel;
    QLabel* readout;
    QLabel* empty;
    QCPColorMap* map;
    QCPColorScale* scale;
    CellLabels* labels;
    QCPItemRect* outlineRect;
    QTimer* player;
    Theme theme = Theme::Light;

private:
    [[nodiscard]] std::string current() const { return name->currentText().toStdString(); }
    [[nodiscard]] CellValue cellValue() const { return static_cast<CellValue>(value->currentIndex()); }
    void layOut();
    void connectControls();
    void setUpPlot();
    void applyScale();

    HeatmapView* m_view;
    int m_hoveredRow = -1;
    int m_hoveredColumn = -1;
};

HeatmapView::Impl::Impl(HeatmapView* view)
    : plot(new QCustomPlot(view)),
      name(new QComboBox(view)),
      value(new QComboBox(view)),
      play(new QToolButton(view)),
      scrubber(new QSlider(Qt::Horizontal, view)),
      stepLabel(new QLabel(view)),
      readout(new QLabel(view)),
      empty(new QLabel(tr("Learned mixing weights appear here while a project with a learned topology trains."), plot)),
      map(new QCPColorMap(plot->xAxis, plot->yAxis)),
      scale(new QCPColorScale(plot)),
      labels(new CellLabels(map)),
      outlineRect(new QCPItemRect(plot)),
      player(new QTimer(view)),
      m_view(view)
{
    setUpPlot();
    layOut();
    connectControls();
    retheme();
    show();
}

void HeatmapView::Impl::setUpPlot()
{
    plot->axisRect()->setupFullAxesBox(false);
    plot->plotLayout()->addElement(0, 1, scale);
    scale->setType(QCPAxis::atRight);
    scale->setBarWidth(kColourBarWidth);
    // Colour bar and map keep the same height.
    auto* margins = new QCPMarginGroup(plot);
    plot->axisRect()->setMarginGroup(QCP::msBottom | QCP::msTop, margins);
    scale->setMarginGroup(QCP::msBottom | QCP::msTop, margins);
    map->setColorScale(scale);
    map->setInterpolate(false);
    map->setTightBoundary(false);
    plot->xAxis->setLabel(tr("source i (0: the input)"));
    plot->yAxis->setLabel(tr("target j"));
    plot->yAxis->setRangeReversed(true);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        const QSharedPointer<QCPAxisTickerFixed> ticker(new QCPAxisTickerFixed);
        ticker->setTickStep(1);
        ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
        axis->setTicker(ticker);
        axis->grid()->setVisible(false);
    }
    outlineRect->setVisible(false);
}

void HeatmapView::Impl::layOut()
{
    m_view->setAccessibleName(tr("Coefficients"));
    plot->setAccessibleName(tr("Coefficient heatmap"));
    name->setAccessibleName(tr("Matrix"));
    value->setAccessibleName(tr("Cell value"));
    value->addItems({tr("value"), tr("change since start"), tr("log(p / row maximum)")});
    play->setText(QStringLiteral("▶"));
    play->setToolTip(tr("Play the recorded steps"));
    play->setAccessibleName(tr("Play"));
    play->setCheckable(true);
    scrubber->setAccessibleName(tr("Recorded step"));
    scrubber->setMinimumWidth(90);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setAttribute(Qt::WA_TransparentForMouseEvents);

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 4, 8, 0);
    controls->setSpacing(8);
    controls->addWidget(name);
    controls->addWidget(value);
    controls->addWidget(play);
    controls->addWidget(scrubber, 1);
    controls->addWidget(stepLabel);
    controls->addWidget(readout);
    auto* column = new QVBoxLayout(m_view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(controls);
    column->addWidget(plot, 1);
    auto* over = new QVBoxLayout(plot);
    over->setContentsMargins(32, 16, 32, 16);
    over->addWidget(empty);
}

void HeatmapView::Impl::connectControls()
{
    QObject::connect(name, &QComboBox::currentIndexChanged, m_view, [this] { frameArrived(); });
    QObject::connect(value, &QComboBox::currentIndexChanged, m_view, [this] { show(); });
    QObject::connect(scrubber, &QSlider::valueChanged, m_view, [this] { show(); });
    QObject::connect(play, &QToolButton::toggled, m_view, [this](bool on) {
        play->setText(on ? QStringLiteral("⏸") : QStringLiteral("▶"));
        if (on && scrubber->value() == scrubber->maximum()) {
            scrubber->setValue(0);
        }
        on ? player->start(kPlayInterval) : player->stop();
    });
    QObject::connect(player, &QTimer::timeout, m_view, [this] {
        scrubber->setValue(scrubber->value() + 1);
        if (scrubber->value() == scrubber->maximum()) {
            play->setChecked(false);
        }
    });
    QObject::connect(plot, &QCustomPlot::mouseMove, m_view, [this](QMouseEvent* event) { hover(event); });
}

void HeatmapView::Impl::refreshNames()
{
    for (const std::string& known : frames.names()) {
        const QString text = QString::fromStdString(known);
        if (name->findText(text) < 0) {
            name->addItem(text);
            // What is applied tells more than what is learned.
            if (known == "mix") {
                name->setCurrentText(text);
            }
        }
    }
}

void HeatmapView::Impl::frameArrived()
{
    const bool atEnd = scrubber->value() == scrubber->maximum();
    const int last = std::max(0, static_cast<int>(frames.count(current())) - 1);
    scrubber->setMaximum(last);
    if (atEnd && !player->isActive()) {
        scrubber->setValue(last);
    }
    show();
}

void HeatmapView::Impl::applyScale()
{
    const auto [low, high] = frames.range(current(), cellValue());
    // Below zero somewhere: signed about zero, unless it is a logarithm, whose zero is the top.
    const bool isSigned = cellValue() == CellValue::SinceStart || (cellValue() == CellValue::Weight && low < 0);
    if (isSigned) {
        const double reach = std::max({std::abs(low), std::abs(high), 1e-9});
        map->setGradient(gradientFor(Scale::Signed, theme));
        map->setDataRange({-reach, reach});
    } else {
        const double from = cellValue() == CellValue::Weight ? 0.0 : low;
        map->setGradient(gradientFor(Scale::Magnitude, theme));
        map->setDataRange({from, std::max(high, from + 1e-9)});
    }
}

void HeatmapView::Impl::show()
{
    const std::string series = current();
    const bool any = frames.count(series) > 0;
    empty->setVisible(!any);
    plot->axisRect()->setVisible(any);
    map->setVisible(any);
    scale->setVisible(any);
    labels->setVisible(any);
    for (QWidget* control : std::initializer_list<QWidget*>{name, value, play, scrubber}) {
        control->setEnabled(any);
    }
    if (any) {
        const auto index = static_cast<std::size_t>(scrubber->value());
        const engine::Matrix& matrix = frames.frame(series, index);
        const auto cells = frames.cells(series, index, cellValue());
        const int rows = static_cast<int>(matrix.rows);
        const int columns = static_cast<int>(matrix.columns);
        map->data()->setSize(columns, rows);
        map->data()->setRange(QCPRange(0, columns - 1), QCPRange(1, rows));
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                map->data()->setCell(column, row, cells[static_cast<std::size_t>(row * columns + column)]);
            }
        }
        applyScale();
        plot->xAxis->setRange(-0.5, columns - 0.5);
        plot->yAxis->setRange(0.5, rows + 0.5);
        stepLabel->setText(tr("step %1").arg(matrix.step));
    } else {
        stepLabel->clear();
        readout->clear();
    }
    plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeatmapView::Impl::hover(QMouseEvent* event)
{
    int column = -1;
    int row = -1;
    if (frames.count(current()) > 0 && plot->axisRect()->rect().contains(event->pos())) {
        map->data()->coordToCell(plot->xAxis->pixelToCoord(event->position().x()),
                                 plot->yAxis->pixelToCoord(event->position().y()), &column, &row);
        const bool inside =
            column >= 0 && row >= 0 && column < map->data()->keySize() && row < map->data()->valueSize();
        if (!inside || std::isnan(map->data()->cell(column, row))) {
            column = row = -1;
        }
    }
    if (row == m_hoveredRow && column == m_hoveredColumn) {
        return;
    }
    m_hoveredRow = row;
    m_hoveredColumn = column;
    readout->setText(
        row < 0 ? QString() : tr("%1:%2 = %3").arg(column).arg(row + 1).arg(map->data()->cell(column, row), 0, 'g', 4));
    outline(row, column);
    emit m_view->cellHovered(row, column);
}

void HeatmapView::Impl::outline(int row, int column)
{
    outlineRect->setVisible(row >= 0);
    outlineRect->topLeft->setCoords(column - 0.5, row + 0.5);
    outlineRect->bottomRight->setCoords(column + 0.5, row + 1.5);
    plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeatmapView::Impl::retheme()
{
    applyTheme(*plot, theme);
    const auto& c = resources::themeColours(theme);
    scale->axis()->setTickLabelColor(toQColor(c.muted));
    scale->axis()->setTickPen(toQColor(c.border));
    scale->axis()->setSubTickPen(Qt::NoPen);
    scale->axis()->setTickLabelFont(plot->font());
    for (QCPAxis* axis : scale->axis()->axisRect()->axes()) {
        axis->setBasePen(toQColor(c.border));
    }
    labels->setClipToAxisRect(true);
    outlineRect->setPen(QPen(toQColor(c.accent), 2));
    QPalette palette = empty->palette();
    palette.setColor(QPalette::WindowText, toQColor(c.muted));
    empty->setPalette(palette);
}

HeatmapView::HeatmapView(QWidget* parent) : QWidget(parent), m_impl(new Impl(this)) {}

HeatmapView::~HeatmapView()
{
    delete m_impl;
}

void HeatmapView::clear()
{
    m_impl->frames.clear();
    m_impl->name->clear();
    m_impl->scrubber->setMaximum(0);
    m_impl->show();
}

void HeatmapView::append(const std::vector<engine::Matrix>& matrices)
{
    if (matrices.empty()) {
        return;
    }
    for (const auto& matrix : matrices) {
        m_impl->frames.append(matrix);
    }
    m_impl->refreshNames();
    m_impl->frameArrived();
}

void HeatmapView::setTheme(Theme theme)
{
    m_impl->theme = theme;
    m_impl->retheme();
    m_impl->show();
}

void HeatmapView::setHighlighted(int row, int column)
{
    m_impl->outline(row, column);
}

} // namespace residua::visualizers
