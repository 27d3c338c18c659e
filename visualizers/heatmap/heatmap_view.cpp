// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_view.h"

#include "engine/api/matrix_name.h"
#include "engine/api/row_curves.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/shown_runs.h"

#include <QComboBox>
#include <QHBoxLayout>
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
constexpr int kCellDigits = 9;    ///< a float, exactly
constexpr int kAllFeatures = -1;
constexpr int kMostFeatures = 1'000'000;

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
    /// That the scrubber stands at; nullopt where nothing is shown.
    [[nodiscard]] std::optional<std::int64_t> step() const;
    [[nodiscard]] CsvText csvText() const;

    HeatmapFrames frames;
    QString otherRun; ///< that the frames are compared with
    HeatmapGrid* grid;
    QComboBox* kind;
    QComboBox* port;
    QSpinBox* feature;
    QComboBox* value;
    QToolButton* pin;
    QToolButton* play;
    QSlider* scrubber;
    QLabel* stepLabel;
    QLabel* readout;
    QTimer* player;

private:
    [[nodiscard]] std::string current() const;
    [[nodiscard]] CellValue cellValue() const { return static_cast<CellValue>(value->currentIndex()); }
    void layOut();
    void connectControls();
    [[nodiscard]] HeatmapGrid::Picture picture(const std::string& series, std::size_t index) const;
    [[nodiscard]] QString scaleLabel() const;
    void pinStep();

    HeatmapView* m_view;
    std::int64_t m_pinned = 0;
};

HeatmapView::Impl::Impl(HeatmapView* view)
    : grid(new HeatmapGrid(tr("Run a project with a learned topology, such as ANCRe, to see its mixing weights."),
                           view)),
      kind(new PlotChoice(view)),
      port(new PlotChoice(view)),
      feature(new QSpinBox(view)),
      value(new PlotChoice(view)),
      pin(new QToolButton(view)),
      play(new QToolButton(view)),
      scrubber(new QSlider(Qt::Horizontal, view)),
      stepLabel(new QLabel(view)),
      readout(new QLabel(view)),
      player(new QTimer(view)),
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
    kind->setAccessibleName(tr("Matrix"));
    kind->setObjectName(QStringLiteral("kind"));
    port->setAccessibleName(tr("Port"));
    port->setObjectName(QStringLiteral("port"));
    feature->setAccessibleName(tr("Feature"));
    feature->setObjectName(QStringLiteral("feature"));
    feature->setRange(kAllFeatures, kMostFeatures);
    feature->setSpecialValueText(tr("all features"));
    feature->setPrefix(tr("feature "));
    feature->setButtonSymbols(QAbstractSpinBox::NoButtons); // a number is typed, or stepped by the arrow keys
    feature->setKeyboardTracking(false);                    // a checkpoint is read for each
    feature->setToolTip(tr("The weights of one feature, at the steps that have a checkpoint"));
    feature->setValue(kAllFeatures);
    feature->hide();
    value->setAccessibleName(tr("Cell value"));
    value->setObjectName(QStringLiteral("value"));
    value->addItems({tr("value"), tr("change since start"), tr("change since pinned step"),
                     tr("difference from other run"), tr("log(p / row maximum)")});
    pin->setText(tr("Pin"));
    pin->setToolTip(tr("Compare with this step from now on (P)"));
    pin->setAccessibleName(tr("Pin this step"));
    play->setText(QStringLiteral("▶"));
    play->setToolTip(tr("Play the recorded steps (Space)"));
    play->setAccessibleName(tr("Play"));
    play->setCheckable(true);
    scrubber->setAccessibleName(tr("Recorded step"));
    scrubber->setMinimumWidth(90);

    auto* choices = new QHBoxLayout;
    choices->setContentsMargins(8, 4, 8, 0);
    choices->setSpacing(8);
    choices->addWidget(kind);
    choices->addWidget(port);
    choices->addWidget(feature);
    choices->addWidget(value);
    choices->addStretch(1);
    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 0, 8, 0);
    controls->setSpacing(8);
    controls->addWidget(play);
    controls->addWidget(scrubber, 1);
    controls->addWidget(stepLabel);
    controls->addWidget(pin);
    controls->addWidget(readout);
    auto* column = new QVBoxLayout(m_view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(choices);
    column->addLayout(controls);
    column->addWidget(grid, 1);
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
    QObject::connect(pin, &QToolButton::clicked, m_view, [this] { pinStep(); });
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
    QObject::connect(grid, &HeatmapGrid::readingChanged, readout, &QLabel::setText);
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
            const QString other = kindName == QLatin1String(kFeatureKind) ? feature->text() : kindName;
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
    frames.drop(kFeatureKind);
    if (const int item = kind->findData(QLatin1String(kFeatureKind)); item >= 0) {
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
    if (const int item = kind->findData(QLatin1String(kFeatureKind)); item >= 0) {
        kind->setCurrentIndex(item);
    }
    frameArrived();
}

void HeatmapView::Impl::appendFeature(const std::vector<engine::Matrix>& matrices)
{
    for (engine::Matrix matrix : matrices) {
        matrix.name = engine::MatrixName{kFeatureKind, engine::MatrixName::from(matrix.name).port}.text();
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
    for (QWidget* control : std::initializer_list<QWidget*>{kind, port, feature, value, pin, play, scrubber}) {
        control->setEnabled(any);
    }
    if (any) {
        const auto index = static_cast<std::size_t>(scrubber->value());
        grid->setPicture(picture(series, index));
        stepLabel->setText(tr("step %1").arg(frames.frame(series, index).step));
    } else {
        grid->setNothing();
        stepLabel->clear();
    }
    emit m_view->stepShown();
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
    return [frames = frames, series = current(), value = cellValue()](QTextStream& out) {
        out.setRealNumberPrecision(kCellDigits);
        out << "step,source,target,value\n";
        for (std::size_t i = 0; i < frames.count(series); ++i) {
            const engine::Matrix& matrix = frames.frame(series, i);
            const auto cells = frames.cells(series, i, value);
            for (std::int64_t row = 0; row < matrix.rows; ++row) {
                for (std::int64_t column = 0; column < matrix.columns; ++column) {
                    const double cell = cells[static_cast<std::size_t>(row * matrix.columns + column)];
                    if (!std::isnan(cell)) {
                        out << matrix.step << ',' << column << ',' << row + 1 << ',' << cell << '\n';
                    }
                }
            }
        }
    };
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
    connect(&runs, &ShownRuns::begun, this, [this, &runs](const std::string& key) {
        const ShownRuns::Facts& facts = runs.find(key)->facts;
        if (key == runs.front()) {
            clear();
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
    return *m_impl->grid;
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
        return m_impl->pin->click();
    default:
        PlotView::keyPressEvent(event);
    }
}

void HeatmapView::setTheme(resources::Theme theme)
{
    m_impl->grid->setTheme(theme);
    m_impl->show();
}

void HeatmapView::setHighlighted(int row, int column)
{
    m_impl->grid->outline(row, column);
}

} // namespace residua::visualizers
