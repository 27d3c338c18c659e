// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/curve_plot.h"
#include "visualizers/loss_curve.h"
#include "visualizers/plot_controls.h"
#include "visualizers/plot_style.h"
#include "visualizers/transitions_model.h"
#include "visualizers/views.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSlider>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <cmath>
#include <map>

namespace residua::visualizers {
namespace {

constexpr int kSmoothingSteps = 20;
constexpr int kDefaultSmoothing = 8;
constexpr double kRawAlpha = 0.28;

// 1 … about 1,000 steps, even to the eye.
double windowOf(int position)
{
    return std::pow(10.0, 3.0 * position / kSmoothingSteps);
}

void appendTo(Curve& curve, const std::vector<LossCurve::Point>& points)
{
    for (const auto& point : points) {
        curve.append(point.x, point.y);
    }
}

} // namespace

class LossView::Impl {
public:
    explicit Impl(LossView* view);

    struct Run {
        LossCurve record;
        QString name;
        std::vector<StageStart> stages;
        std::size_t colour = 0;
        Curve raw;
        Curve smooth;
        Curve validation;
        CurvePlot::Id rawId{};
        CurvePlot::Id smoothId{};
        CurvePlot::Id validationId{};
    };

    Run& run(const QString& key);
    void remove(const QString& key);
    void append(Run& run, std::size_t from);
    void redrawAll();
    void style(const Run& run) const;
    void showStages();
    void refresh();

    CurvePlot* plot;
    QComboBox* scale;
    QSlider* smoothing;
    QComboBox* axis;
    QLabel* empty;
    QTableView* table;
    TransitionsModel transitions;
    std::map<QString, Run> runs; ///< stay where they are: the plot points into them
    std::size_t nextColour = 0;
    Theme theme = Theme::Light;

private:
    [[nodiscard]] XAxis xAxis() const { return static_cast<XAxis>(axis->currentIndex()); }
    [[nodiscard]] QString xName() const;
    void layOut(LossView* view);
    void connectControls(LossView* view);
    void setScale(int index);
};

LossView::Impl::Impl(LossView* view)
    : plot(new CurvePlot(view)),
      scale(new PlotChoice(view)),
      smoothing(new QSlider(Qt::Horizontal, view)),
      axis(new PlotChoice(view)),
      empty(inviteOver(*plot, tr("Run the project to see its loss."))),
      table(new QTableView(view))
{
    layOut(view);
    plot->yAxis->setLabel(tr("loss"));
    plot->xAxis->setLabel(xName());
    plot->setXText([this](double x) { return xName() + QLatin1Char(' ') + QString::number(x, 'g', 6); });
    connectControls(view);
    refresh();
}

QString LossView::Impl::xName() const
{
    return QStringList{tr("step"), tr("tokens or samples"), tr("FLOP"), tr("seconds")}.at(axis->currentIndex());
}

void LossView::Impl::layOut(LossView* view)
{
    view->setAccessibleName(tr("Loss"));
    plot->setAccessibleName(tr("Loss plot"));
    plot->setMinimumHeight(80);
    axis->addItems({tr("by step"), tr("by tokens or samples"), tr("by FLOP"), tr("by time (s)")});
    axis->setObjectName(QStringLiteral("horizontalAxis"));
    axis->setAccessibleName(tr("Horizontal axis"));
    scale->addItems({tr("linear"), tr("log y"), tr("log x"), tr("log x and y"), tr("symmetric log y")});
    scale->setObjectName(QStringLiteral("scale"));
    scale->setAccessibleName(tr("Scale"));
    smoothing->setRange(0, kSmoothingSteps);
    smoothing->setValue(kDefaultSmoothing);
    giveWay(*smoothing);
    smoothing->setAccessibleName(tr("Smoothing"));
    smoothing->setToolTip(tr("Moving average over 1 to 1,000 steps; the raw losses stay faint behind it"));
    table->setModel(&transitions);
    table->setAccessibleName(tr("Stage transitions"));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->setShowGrid(false);
    table->hide();

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 4, 8, 0);
    controls->setSpacing(10);
    controls->addWidget(axis);
    controls->addWidget(scale);
    controls->addWidget(new QLabel(tr("Smoothing"), view));
    controls->addWidget(smoothing);
    controls->addStretch(1);
    auto* split = new QSplitter(Qt::Horizontal, view);
    split->addWidget(plot);
    split->addWidget(table);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(controls);
    column->addWidget(split, 1);
}

void LossView::Impl::connectControls(LossView* view)
{
    QObject::connect(scale, &QComboBox::currentIndexChanged, view, [this](int index) { setScale(index); });
    QObject::connect(smoothing, &QSlider::valueChanged, view, [this](int position) {
        for (auto& [key, run] : runs) {
            run.record.setWindow(windowOf(position));
        }
        redrawAll();
    });
    QObject::connect(axis, &QComboBox::currentIndexChanged, view, [this] {
        plot->xAxis->setLabel(xName());
        redrawAll();
        plot->showAll();
    });
}

void LossView::Impl::setScale(int index)
{
    constexpr std::pair<AxisScale, AxisScale> kScales[] = {
        {AxisScale::Linear, AxisScale::Linear},
        {AxisScale::Linear, AxisScale::Logarithmic},
        {AxisScale::Logarithmic, AxisScale::Linear},
        {AxisScale::Logarithmic, AxisScale::Logarithmic},
        {AxisScale::Linear, AxisScale::SymmetricLogarithmic},
    };
    plot->setScaleX(kScales[index].first);
    plot->setScaleY(kScales[index].second);
}

LossView::Impl::Run& LossView::Impl::run(const QString& key)
{
    if (const auto found = runs.find(key); found != runs.end()) {
        return found->second;
    }
    Run& run = runs[key];
    run.colour = nextColour++;
    run.rawId = plot->add(run.raw, {});
    run.smoothId = plot->add(run.smooth, {});
    run.validationId = plot->add(run.validation, {});
    run.record.setWindow(windowOf(smoothing->value()));
    style(run);
    return run;
}

void LossView::Impl::remove(const QString& key)
{
    const auto found = runs.find(key);
    if (found == runs.end()) {
        return;
    }
    for (const CurvePlot::Id id : {found->second.rawId, found->second.smoothId, found->second.validationId}) {
        plot->remove(id);
    }
    runs.erase(found);
}

void LossView::Impl::style(const Run& run) const
{
    const auto colour = resources::curveColour(run.colour, theme);
    const QString training = run.name.isEmpty() ? tr("training") : tr("%1, training").arg(run.name);
    const QString validation = run.name.isEmpty() ? tr("validation") : tr("%1, validation").arg(run.name);
    plot->setLook(run.rawId, {{}, colour, kRawAlpha});
    plot->setLook(run.smoothId, {training, colour, 1, 1.8});
    plot->setLook(run.validationId,
                  {run.validation.size() > 0 ? validation : QString(), colour, 1, 1.2, Qt::DashLine, true});
}

// Only what is new goes into the raw and smoothed curves. The smoothed one begins with the first finite loss.
void LossView::Impl::append(Run& run, std::size_t from)
{
    const std::size_t lead = run.raw.size() - run.smooth.size();
    run.raw.truncate(from);
    run.smooth.truncate(from > lead ? from - lead : 0);
    appendTo(run.raw, run.record.raw(xAxis(), from));
    appendTo(run.smooth, run.record.smoothed(xAxis(), from));
    const bool first = run.validation.size() == 0;
    run.validation.clear();
    appendTo(run.validation, run.record.validation(xAxis()));
    if (first && run.validation.size() > 0) {
        style(run);
    }
}

void LossView::Impl::redrawAll()
{
    for (auto& [key, run] : runs) {
        append(run, 0);
    }
    refresh();
}

void LossView::Impl::showStages()
{
    std::vector<CurvePlot::Band> bands;
    std::vector<StageTransition> rows;
    for (const auto& [key, run] : runs) {
        if (run.stages.empty()) {
            continue;
        }
        for (const StageStart& stage : run.stages) {
            bands.push_back({run.record.xOf(stage.step, xAxis()), QString::fromStdString(stage.name)});
        }
        rows = stageTransitions(run.stages, run.record.steps());
        break;
    }
    plot->setBands(std::move(bands));
    table->setVisible(!rows.empty());
    transitions.setTransitions(std::move(rows));
}

void LossView::Impl::refresh()
{
    empty->setVisible(plot->isEmpty());
    showStages();
    plot->refresh();
}

LossView::LossView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this)) {}

LossView::~LossView() = default;

void LossView::setRun(const QString& key, const QString& name)
{
    Impl::Run& run = m_impl->run(key);
    run.name = name;
    m_impl->style(run);
    m_impl->refresh();
}

void LossView::setFlopPerUnit(const QString& key, double flop)
{
    Impl::Run& run = m_impl->run(key);
    if (run.record.setFlopPerUnit(flop)) {
        m_impl->append(run, 0);
        m_impl->refresh();
    }
}

void LossView::setEvents(const QString& key, const std::vector<engine::RunEvent>& events)
{
    m_impl->run(key).stages = stageStarts(events);
    m_impl->refresh();
}

void LossView::removeRun(const QString& key)
{
    m_impl->remove(key);
    m_impl->refresh();
}

QColor LossView::colourOf(const QString& key) const
{
    const auto found = m_impl->runs.find(key);
    return found == m_impl->runs.end() ? QColor()
                                       : toQColor(resources::curveColour(found->second.colour, m_impl->theme));
}

void LossView::clear()
{
    while (!m_impl->runs.empty()) {
        m_impl->remove(m_impl->runs.begin()->first);
    }
    m_impl->nextColour = 0;
    m_impl->showStages();
    m_impl->empty->setVisible(true);
    m_impl->plot->showAll();
}

void LossView::append(const QString& key, const std::vector<engine::StepRecord>& steps,
                      const std::vector<engine::ValidationRecord>& validations)
{
    Impl::Run& run = m_impl->run(key);
    m_impl->append(run, run.record.append(steps, validations));
    m_impl->refresh();
}

void LossView::setTheme(Theme theme)
{
    m_impl->theme = theme;
    m_impl->plot->setTheme(theme);
    setMuted(*m_impl->empty, theme);
    for (auto& [key, run] : m_impl->runs) {
        m_impl->style(run);
    }
}

QString LossView::csv() const
{
    return m_impl->plot->csv(m_impl->plot->xAxis->label(), QStringLiteral("loss"));
}

QCustomPlot& LossView::plot() const
{
    return *m_impl->plot;
}

} // namespace residua::visualizers
