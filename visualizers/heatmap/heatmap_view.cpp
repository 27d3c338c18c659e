// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_view.h"

#include "engine/api/matrix_name.h"
#include "engine/api/row_curves.h"
#include "visualizers/heatmap/distance_plot.h"
#include "visualizers/heatmap/heatmap_controls.h"
#include "visualizers/heatmap/heatmap_csv.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/runs/shown_runs.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <map>

namespace residua::visualizers {
namespace {

constexpr int kPlayInterval = 60; ///< ms between frames while playing
constexpr int kAllFeatures = HeatmapControls::kAllFeatures;

QString textOf(projects::MixPort port)
{
    const std::string_view name = nameOf(port);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

} // namespace

class HeatmapView::Impl {
public:
    explicit Impl(HeatmapView* view);

    void refreshNames();
    void frameArrived();
    void show();
    void setFeature(int number, const std::vector<engine::Matrix>& matrices);
    void appendFeature(const std::vector<engine::Matrix>& matrices);
    void dropFeature();
    /// The step that the scrubber stands at; nullopt where nothing is shown.
    [[nodiscard]] std::optional<std::int64_t> step() const;
    [[nodiscard]] CsvText csvText() const;
    [[nodiscard]] bool byDistance() const;

    HeatmapFrames frames;
    QString runName;  ///< of the frames
    QString otherRun; ///< that the frames are compared with
    HeatmapGrid* grid;
    DistancePlot* distances; ///< in place of the grid, where it is asked for
    HeatmapControls* controls;
    QTimer* player;

    // Widgets of `controls`.
    QComboBox* kind;
    QComboBox* port;
    QSpinBox* feature;
    QComboBox* value;
    QToolButton* play;
    QSlider* scrubber;

private:
    [[nodiscard]] std::string current() const;
    [[nodiscard]] CellValue cellValue() const { return static_cast<CellValue>(value->currentIndex()); }
    void layOut();
    void connectControls();
    [[nodiscard]] HeatmapGrid::Picture picture(const std::string& series, std::size_t index) const;
    [[nodiscard]] QString scaleLabel() const;
    void pinStep();
    void showDistances(const std::string& series, std::size_t index);

    HeatmapView* m_view;
    std::int64_t m_pinned = 0;
};

HeatmapView::Impl::Impl(HeatmapView* view)
    : grid(new HeatmapGrid(tr("Run a project with a learned topology, such as ANCRe, to see its mixing weights."),
                           view)),
      distances(new DistancePlot(view)),
      controls(new HeatmapControls(view)),
      player(new QTimer(view)),
      kind(controls->kind),
      port(controls->port),
      feature(controls->feature),
      value(controls->value),
      play(controls->play),
      scrubber(controls->scrubber),
      m_view(view)
{
    layOut();
    connectControls();
    grid->setTheme(resources::Theme::Light);
    show();
}

void HeatmapView::Impl::layOut()
{
    m_view->setAccessibleName(tr("Coefficients"));
    grid->setAccessibleName(tr("Coefficient heatmap"));
    grid->setFocusPolicy(Qt::StrongFocus);
    grid->setMinimumHeight(80);
    auto* column = new QVBoxLayout(m_view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(controls);
    column->addWidget(grid, 1);
    column->addWidget(distances, 1);
    distances->setMinimumHeight(80);
    distances->hide();
}

void HeatmapView::Impl::connectControls()
{
    for (QComboBox* box : {kind, port}) {
        QObject::connect(box, &QComboBox::currentIndexChanged, m_view, [this] { frameArrived(); });
    }
    QObject::connect(feature, &QSpinBox::valueChanged, m_view, [this](int number) {
        if (number == kAllFeatures) {
            dropFeature();
            frameArrived();
        } else {
            emit m_view->featureWanted(number);
        }
    });
    QObject::connect(controls->pin, &QToolButton::clicked, m_view, [this] { pinStep(); });
    QObject::connect(controls->distance, &QToolButton::toggled, m_view, [this] { show(); });
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
    QObject::connect(grid, &HeatmapGrid::cellPointed, m_view, &HeatmapView::cellHovered);
    QObject::connect(grid, &HeatmapGrid::readingChanged, controls->readout, &QLabel::setText);
}

void HeatmapView::Impl::refreshNames()
{
    const QSignalBlocker quietKind(kind);
    const QSignalBlocker quietPort(port);
    for (const std::string& known : frames.names()) {
        const engine::MatrixName name = engine::MatrixName::from(known);
        const QString kindName = QString::fromStdString(name.kind);
        const QString portName = textOf(name.port);
        if (kind->findData(kindName) < 0) {
            static const std::map<QString, QString> titles{
                {QString(engine::matrix::kMix), tr("weights applied")},
                {QString(engine::matrix::kCoefficient), tr("coefficients learned")},
                {QString(engine::matrix::kSpread), tr("spread over features")}};
            const auto title = titles.find(kindName);
            const QString other = kindName == QLatin1String(engine::matrix::kFeature) ? feature->text() : kindName;
            kind->addItem(title == titles.end() ? other : title->second, kindName);
            // What is applied tells more than what is learned.
            if (name.kind == engine::matrix::kMix) {
                kind->setCurrentIndex(kind->count() - 1);
            }
        }
        if (!portName.isEmpty() && port->findText(portName) < 0) {
            port->addItem(portName);
            const QString query = textOf(projects::MixPort::Query);
            if (name.port != projects::MixPort::Final && port->findText(query) >= 0 &&
                port->currentText() == textOf(projects::MixPort::Final)) {
                port->setCurrentText(query); // the first thing that a person asks for
            }
        }
    }
}

std::string HeatmapView::Impl::current() const
{
    const std::string of = port->count() > 0 ? port->currentText().toStdString() : std::string();
    return engine::MatrixName{kind->currentData().toString().toStdString(),
                              projects::mixPortFrom(of).value_or(projects::MixPort::Input)}
        .text();
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

QString HeatmapView::Impl::scaleLabel() const
{
    switch (cellValue()) {
    case CellValue::Weight:
        return kind->currentText();
    case CellValue::SinceStart:
        return tr("change since step %1").arg(frames.frame(current(), 0).step);
    case CellValue::SincePinned:
        return tr("change since step %1").arg(m_pinned);
    case CellValue::AgainstRun:
        return otherRun.isEmpty() ? tr("show another run to compare with") : tr("less %1").arg(otherRun);
    case CellValue::LogOfRowMax:
        return tr("log(pᵢⱼ / maxᵢ pᵢⱼ)");
    }
    return {};
}

HeatmapGrid::Picture HeatmapView::Impl::picture(const std::string& series, std::size_t index) const
{
    const engine::Matrix& matrix = frames.frame(series, index);
    projects::WeightScale scale;
    if (cellValue() == CellValue::Weight) {
        scale = frames.scale(series);
    } else {
        const auto [low, high] = frames.range(series, cellValue());
        scale = {cellValue() == CellValue::LogOfRowMax ? std::nullopt : std::optional(0.0), low, high};
    }
    return {static_cast<int>(matrix.rows),
            static_cast<int>(matrix.columns),
            frames.cells(series, index, cellValue()),
            scale.low,
            scale.high,
            scale.centre,
            scaleLabel()};
}

void HeatmapView::Impl::pinStep()
{
    if (frames.count(current()) > 0) {
        m_pinned = frames.frame(current(), static_cast<std::size_t>(scrubber->value())).step;
        frames.pin(m_pinned);
        value->setCurrentIndex(static_cast<int>(CellValue::SincePinned));
        show();
    }
}

void HeatmapView::Impl::dropFeature()
{
    const QSignalBlocker quiet(kind);
    frames.drop(engine::matrix::kFeature);
    if (const int item = kind->findData(QLatin1String(engine::matrix::kFeature)); item >= 0) {
        kind->removeItem(item);
        kind->setCurrentIndex(std::max(kind->findData(QString(engine::matrix::kMix)), 0));
    }
}

void HeatmapView::Impl::setFeature(int number, const std::vector<engine::Matrix>& matrices)
{
    const QSignalBlocker quiet(feature);
    dropFeature();
    feature->setValue(matrices.empty() ? kAllFeatures : number);
    appendFeature(matrices);
    if (const int item = kind->findData(QLatin1String(engine::matrix::kFeature)); item >= 0) {
        kind->setCurrentIndex(item);
    }
    frameArrived();
}

void HeatmapView::Impl::appendFeature(const std::vector<engine::Matrix>& matrices)
{
    for (engine::Matrix matrix : matrices) {
        matrix.name = engine::MatrixName{engine::matrix::kFeature, engine::MatrixName::from(matrix.name).port}.text();
        frames.append(matrix);
    }
    refreshNames();
    frameArrived();
}

void HeatmapView::Impl::show()
{
    const std::string series = current();
    const bool any = frames.count(series) > 0;
    kind->setVisible(kind->count() > 0);
    port->setVisible(port->count() > 0);
    feature->setVisible(kind->findData(QString(engine::matrix::kSpread)) >= 0); // a weight for each
    for (QWidget* control : std::initializer_list<QWidget*>{kind, port, feature, value, controls->distance,
                                                            controls->pin, play, scrubber}) {
        control->setEnabled(any);
    }
    grid->setVisible(!byDistance());
    distances->setVisible(byDistance());
    if (any) {
        const auto index = static_cast<std::size_t>(scrubber->value());
        grid->setPicture(picture(series, index));
        showDistances(series, index);
        controls->stepLabel->setText(tr("step %1").arg(frames.frame(series, index).step));
    } else {
        grid->setNothing();
        controls->stepLabel->clear();
    }
    emit m_view->stepShown();
}

bool HeatmapView::Impl::byDistance() const
{
    return controls->distance->isChecked() && frames.count(current()) > 0;
}

void HeatmapView::Impl::showDistances(const std::string& series, std::size_t index)
{
    if (byDistance()) {
        const auto [low, high] = frames.range(series, cellValue());
        distances->setWeights(weightsByDistance(frames.shown(series, index, cellValue())), scaleLabel(), low, high);
    }
}

std::optional<std::int64_t> HeatmapView::Impl::step() const
{
    const std::string series = current();
    return frames.count(series) > 0
               ? std::optional(frames.frame(series, static_cast<std::size_t>(scrubber->value())).step)
               : std::nullopt;
}

CsvText HeatmapView::Impl::csvText() const
{
    return heatmapCsv(frames, {runName, textOf(engine::MatrixName::from(current()).port), current(), cellValue(),
                               byDistance() ? HeatmapTable::Distances : HeatmapTable::Cells});
}

HeatmapView::HeatmapView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this)) {}

HeatmapView::~HeatmapView() = default;

void HeatmapView::clear()
{
    m_impl->frames.clear();
    m_impl->kind->clear();
    m_impl->port->clear();
    const QSignalBlocker quiet(m_impl->feature);
    m_impl->feature->setValue(kAllFeatures);
    m_impl->feature->hide();
    m_impl->scrubber->setMaximum(0);
    m_impl->show();
}

void HeatmapView::setWiring(const projects::Wiring& wiring)
{
    m_impl->frames.setWiring(wiring);
    m_impl->show();
}

void HeatmapView::append(const std::vector<engine::Matrix>& matrices)
{
    if (matrices.empty()) {
        return;
    }
    for (const auto& matrix : matrices) {
        if (!engine::isDrawnAsCurves(matrix.name)) {
            m_impl->frames.append(matrix);
        }
    }
    m_impl->refreshNames();
    m_impl->frameArrived();
}

void HeatmapView::setFeature(int feature, const std::vector<engine::Matrix>& matrices)
{
    m_impl->setFeature(feature, matrices);
}

void HeatmapView::appendFeature(const std::vector<engine::Matrix>& matrices)
{
    m_impl->appendFeature(matrices);
}

std::optional<int> HeatmapView::feature() const
{
    const int number = m_impl->feature->value();
    return number == kAllFeatures ? std::nullopt : std::optional(number);
}

std::vector<std::shared_ptr<const engine::Matrix>> HeatmapView::framesShown() const
{
    const auto step = m_impl->step();
    return step ? m_impl->frames.at(*step) : std::vector<std::shared_ptr<const engine::Matrix>>();
}

projects::WeightScale HeatmapView::scaleOf(const std::string& matrix) const
{
    return m_impl->frames.scale(matrix);
}

void HeatmapView::compareWith(const QString& name)
{
    m_impl->otherRun = name;
    m_impl->frames.forgetCompared();
    m_impl->show();
}

void HeatmapView::appendCompared(const std::vector<engine::Matrix>& matrices)
{
    m_impl->frames.appendCompared(matrices);
    m_impl->show();
}

void HeatmapView::follow(const ShownRuns& runs)
{
    connect(&runs, &ShownRuns::frontChanged, this, &HeatmapView::clear);
    connect(&runs, &ShownRuns::comparedChanged, this, [this] { compareWith({}); });
    connect(&runs, &ShownRuns::labelsChanged, this, [this, &runs] { m_impl->runName = runs.labelOf(runs.front()); });
    connect(&runs, &ShownRuns::begun, this, [this, &runs](const std::string& key) {
        const ShownRuns::Facts& facts = runs.find(key)->facts;
        if (key == runs.front()) {
            clear();
            m_impl->runName = runs.labelOf(key);
            setWiring(facts.topology.wiring);
        } else if (key == runs.compared()) {
            compareWith(facts.name);
        }
    });
    connect(&runs, &ShownRuns::added, this, [this, &runs](const std::string& key, const RunNumbers& numbers) {
        if (key == runs.front()) {
            append(numbers.matrices);
        } else if (key == runs.compared()) {
            appendCompared(numbers.matrices);
        }
    });
}

CsvText HeatmapView::csvText() const
{
    return m_impl->csvText();
}

QCustomPlot& HeatmapView::plot() const
{
    return m_impl->byDistance() ? static_cast<QCustomPlot&>(*m_impl->distances) : *m_impl->grid;
}

void HeatmapView::keyPressEvent(QKeyEvent* event)
{
    QSlider& scrubber = *m_impl->scrubber;
    switch (event->key()) {
    case Qt::Key_Up:
        return m_impl->grid->moveCell(-1, 0);
    case Qt::Key_Down:
        return m_impl->grid->moveCell(1, 0);
    case Qt::Key_Left:
        return m_impl->grid->moveCell(0, -1);
    case Qt::Key_Right:
        return m_impl->grid->moveCell(0, 1);
    case Qt::Key_PageUp:
        return scrubber.setValue(scrubber.value() - 1);
    case Qt::Key_PageDown:
        return scrubber.setValue(scrubber.value() + 1);
    case Qt::Key_Home:
        return scrubber.setValue(0);
    case Qt::Key_End:
        return scrubber.setValue(scrubber.maximum());
    case Qt::Key_Space:
        return m_impl->play->toggle();
    case Qt::Key_P:
        return m_impl->controls->pin->click();
    default:
        PlotView::keyPressEvent(event);
    }
}

void HeatmapView::setTheme(resources::Theme theme)
{
    m_impl->grid->setTheme(theme);
    m_impl->distances->setTheme(theme);
    m_impl->show();
}

void HeatmapView::setHighlighted(int row, int column)
{
    m_impl->grid->outline(row, column);
}

} // namespace residua::visualizers
