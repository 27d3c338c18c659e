// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"
#include "visualizers/plot_controls.h"
#include "visualizers/run_plot.h"
#include "visualizers/views.h"

#include <QComboBox>
#include <QVBoxLayout>

namespace residua::visualizers {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

} // namespace

class MetricsView::Impl {
public:
    explicit Impl(MetricsView* view);

    RunPlot* curves;

private:
    struct Metric {
        const char* name;
        QString title;
        QString unit;
    };

    [[nodiscard]] static std::vector<Metric> metrics();
    [[nodiscard]] static RunPlot::Shown shown(const Metric& metric);
};

std::vector<MetricsView::Impl::Metric> MetricsView::Impl::metrics()
{
    return {{engine::metric::kGradientNorm, tr("gradient norm"), {}},
            {engine::metric::kLearningRate, tr("learning rate"), {}},
            {engine::metric::kThroughput, tr("throughput"), tr("tokens or samples a second")},
            {engine::metric::kPeakBytes, tr("peak memory"), tr("MiB")}};
}

RunPlot::Shown MetricsView::Impl::shown(const Metric& metric)
{
    const QString label = metric.unit.isEmpty() ? metric.title : tr("%1 (%2)").arg(metric.title, metric.unit);
    return {.name = metric.name, .title = metric.title, .label = label, .beside = {}, .besideTitle = {}};
}

MetricsView::Impl::Impl(MetricsView* view)
    : curves(new RunPlot({{engine::metric::kGradientNorm, &engine::StepRecord::gradientNorm},
                          {engine::metric::kLearningRate, &engine::StepRecord::learningRate}},
                         shown(metrics().front()), tr("Norms, speed and memory of a run appear here while it trains."),
                         view))
{
    view->setAccessibleName(tr("Norms and speed"));
    curves->plot().setAccessibleName(tr("Plot of norms and speed"));
    auto* metric = new PlotChoice(view);
    metric->setAccessibleName(tr("Metric"));
    metric->setObjectName(QStringLiteral("metric"));
    for (const Metric& known : metrics()) {
        metric->addItem(known.title);
    }
    curves->putFirst(metric);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(curves);
    QObject::connect(metric, &QComboBox::currentIndexChanged, view,
                     [this](int index) { curves->setShown(shown(metrics().at(static_cast<std::size_t>(index)))); });
}

MetricsView::MetricsView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this)) {}

MetricsView::~MetricsView() = default;

void MetricsView::setRun(const QString& key, const QString& name)
{
    m_impl->curves->setRun(key, name);
    m_impl->curves->refresh();
}

void MetricsView::setFlopPerUnit(const QString& key, double flop)
{
    m_impl->curves->run(key).setFlopPerUnit(flop);
    m_impl->curves->refresh();
}

void MetricsView::setEvents(const QString& key, const std::vector<engine::RunEvent>& events)
{
    m_impl->curves->setEvents(key, events);
    m_impl->curves->refresh();
}

void MetricsView::removeRun(const QString& key)
{
    m_impl->curves->removeRun(key);
    m_impl->curves->refresh();
}

void MetricsView::clear()
{
    m_impl->curves->clear();
}

void MetricsView::append(const QString& key, const std::vector<engine::StepRecord>& steps)
{
    m_impl->curves->run(key).append(steps);
    m_impl->curves->refresh();
}

void MetricsView::append(const QString& key, const std::string& name, const std::vector<engine::MetricPoint>& points)
{
    std::vector<engine::MetricPoint> shown = points;
    if (name == engine::metric::kPeakBytes) {
        for (engine::MetricPoint& point : shown) {
            point.value /= kMebibyte;
        }
    }
    m_impl->curves->run(key).append(name, shown);
    m_impl->curves->refresh();
}

void MetricsView::setTheme(Theme theme)
{
    m_impl->curves->setTheme(theme);
}

CsvText MetricsView::csvText() const
{
    return m_impl->curves->csvText();
}

QCustomPlot& MetricsView::plot() const
{
    return m_impl->curves->plot();
}

} // namespace residua::visualizers
