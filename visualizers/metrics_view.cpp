// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"
#include "visualizers/curve_plot.h"
#include "visualizers/plot_controls.h"
#include "visualizers/plot_style.h"
#include "visualizers/views.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <array>
#include <map>

namespace residua::visualizers {
namespace {

struct Metric {
    const char* name;
    const char* title; ///< translated when shown
    const char* unit;
};

constexpr std::array kMetrics{
    Metric{engine::metric::kGradientNorm, QT_TRANSLATE_NOOP("MetricsView", "gradient norm"), ""},
    Metric{engine::metric::kLearningRate, QT_TRANSLATE_NOOP("MetricsView", "learning rate"), ""},
    Metric{engine::metric::kThroughput, QT_TRANSLATE_NOOP("MetricsView", "throughput"),
           QT_TRANSLATE_NOOP("MetricsView", "tokens or samples a second")},
    Metric{engine::metric::kPeakBytes, QT_TRANSLATE_NOOP("MetricsView", "peak memory"),
           QT_TRANSLATE_NOOP("MetricsView", "MiB")},
};
constexpr double kMebibyte = 1024.0 * 1024.0;

} // namespace

class MetricsView::Impl {
public:
    explicit Impl(MetricsView* view);

    struct Run {
        QString name;
        std::size_t colour = 0;
        std::map<std::string, Curve> curves; ///< stay where they are: the plot points into them
        CurvePlot::Id id{};
    };

    Run& run(const QString& key);
    void remove(const QString& key);
    void style(const Run& run) const;
    void choose();
    void refresh();

    CurvePlot* plot;
    QComboBox* metric;
    QComboBox* scale;
    QLabel* empty;
    std::map<QString, Run> runs;
    std::size_t nextColour = 0;
    Theme theme = Theme::Light;

private:
    [[nodiscard]] std::string chosen() const { return metric->currentData().toString().toStdString(); }
};

MetricsView::Impl::Impl(MetricsView* view)
    : plot(new CurvePlot(view)),
      metric(new PlotChoice(view)),
      scale(new PlotChoice(view)),
      empty(inviteOver(*plot, tr("Norms, speed and memory of a run appear here while it trains.")))
{
    view->setAccessibleName(tr("Norms and speed"));
    plot->setAccessibleName(tr("Plot of norms and speed"));
    plot->setMinimumHeight(80);
    plot->xAxis->setLabel(tr("step"));
    plot->setXText([](double x) { return tr("step %1").arg(QString::number(x, 'f', 0)); });
    metric->setAccessibleName(tr("Metric"));
    metric->setObjectName(QStringLiteral("metric"));
    for (const Metric& known : kMetrics) {
        metric->addItem(tr(known.title), QString::fromLatin1(known.name));
    }
    scale->addItems({tr("linear"), tr("log y"), tr("symmetric log y")});
    scale->setObjectName(QStringLiteral("scale"));
    scale->setAccessibleName(tr("Scale"));

    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 4, 8, 0);
    controls->setSpacing(10);
    controls->addWidget(metric);
    controls->addWidget(scale);
    controls->addStretch(1);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(controls);
    column->addWidget(plot, 1);
    QObject::connect(metric, &QComboBox::currentIndexChanged, view, [this] { choose(); });
    QObject::connect(scale, &QComboBox::currentIndexChanged, view, [this](int index) {
        constexpr std::array kScales{AxisScale::Linear, AxisScale::Logarithmic, AxisScale::SymmetricLogarithmic};
        plot->setScaleY(kScales[static_cast<std::size_t>(index)]);
    });
    choose();
}

MetricsView::Impl::Run& MetricsView::Impl::run(const QString& key)
{
    if (const auto found = runs.find(key); found != runs.end()) {
        return found->second;
    }
    Run& run = runs[key];
    run.colour = nextColour++;
    run.id = plot->add(run.curves[chosen()], {});
    style(run);
    return run;
}

void MetricsView::Impl::remove(const QString& key)
{
    if (const auto found = runs.find(key); found != runs.end()) {
        plot->remove(found->second.id);
        runs.erase(found);
    }
}

void MetricsView::Impl::style(const Run& run) const
{
    const QString name = run.name.isEmpty() ? metric->currentText() : run.name;
    plot->setLook(run.id, {name, resources::curveColour(run.colour, theme), 1, 1.4});
}

void MetricsView::Impl::choose()
{
    const QString unit = tr(kMetrics[static_cast<std::size_t>(metric->currentIndex())].unit);
    plot->yAxis->setLabel(unit.isEmpty() ? metric->currentText() : tr("%1 (%2)").arg(metric->currentText(), unit));
    for (auto& [key, run] : runs) {
        plot->remove(run.id);
        run.id = plot->add(run.curves[chosen()], {});
        style(run);
    }
    refresh();
    plot->showAll();
}

void MetricsView::Impl::refresh()
{
    empty->setVisible(plot->isEmpty());
    plot->refresh();
}

MetricsView::MetricsView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this)) {}

MetricsView::~MetricsView() = default;

void MetricsView::setRun(const QString& key, const QString& name)
{
    Impl::Run& run = m_impl->run(key);
    run.name = name;
    m_impl->style(run);
    m_impl->refresh();
}

void MetricsView::removeRun(const QString& key)
{
    m_impl->remove(key);
    m_impl->refresh();
}

void MetricsView::clear()
{
    while (!m_impl->runs.empty()) {
        m_impl->remove(m_impl->runs.begin()->first);
    }
    m_impl->nextColour = 0;
    m_impl->empty->setVisible(true);
    m_impl->plot->showAll();
}

void MetricsView::append(const QString& key, const std::vector<engine::StepRecord>& steps)
{
    std::vector<engine::MetricPoint> norms;
    std::vector<engine::MetricPoint> rates;
    for (const engine::StepRecord& record : steps) {
        norms.push_back({record.step, record.gradientNorm});
        rates.push_back({record.step, record.learningRate});
    }
    append(key, engine::metric::kGradientNorm, norms);
    append(key, engine::metric::kLearningRate, rates);
}

void MetricsView::append(const QString& key, const std::string& name, const std::vector<engine::MetricPoint>& points)
{
    const double unit = name == engine::metric::kPeakBytes ? kMebibyte : 1;
    Curve& curve = m_impl->run(key).curves[name];
    for (const engine::MetricPoint& point : points) {
        const auto step = static_cast<double>(point.step);
        curve.truncate(curve.lowerBound(step));
        curve.append(step, point.value / unit);
    }
    m_impl->refresh();
}

void MetricsView::setTheme(Theme theme)
{
    m_impl->theme = theme;
    m_impl->plot->setTheme(theme);
    setMuted(*m_impl->empty, theme);
    for (const auto& [key, run] : m_impl->runs) {
        m_impl->style(run);
    }
}

QString MetricsView::csv() const
{
    return m_impl->plot->csv(QStringLiteral("step"), m_impl->plot->yAxis->label());
}

QCustomPlot& MetricsView::plot() const
{
    return *m_impl->plot;
}

} // namespace residua::visualizers
