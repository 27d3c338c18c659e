// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/metrics_view.h"

#include "engine/api/row_curves.h"
#include "engine/results/run_reader.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/curve_name.h"
#include "visualizers/runs/run_plot.h"

#include <QComboBox>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace residua::visualizers {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr std::int64_t kMostColumns = 2000; ///< maximum number of columns with a curve

void takeRows(RunCurves& curves, const engine::Matrix& matrix)
{
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        const CurveRow of(matrix.name, row);
        for (std::int64_t column = 0; column < std::min(matrix.columns, kMostColumns); ++column) {
            if (const float value = matrix.at(row, column); !std::isnan(value)) { // the layer was not left out
                curves.append(ColumnCurve(of, column + 1), {{matrix.step, value}});
            }
        }
    }
}

void takeMetrics(RunCurves& curves, const RunNumbers& numbers)
{
    for (const auto& [name, points] : numbers.metrics) {
        std::vector<engine::MetricPoint> shown = points;
        for (engine::MetricPoint& point : shown) {
            point.value /= name == engine::metric::kPeakBytes ? kMebibyte : 1;
        }
        curves.append(name, shown);
    }
    for (const engine::Matrix& matrix : numbers.matrices) {
        if (engine::hasRowCurves(matrix)) {
            takeRows(curves, matrix);
        }
    }
}

} // namespace

class MetricsView::Impl {
public:
    Impl(const ShownRuns& runs, MetricsView* view);

    RunPlot* curves;

private:
    struct Metric {
        RunPlot::Number number;
        QString title;
        QString unit;
        QString column; ///< name of what each curve is of; empty for a single curve
    };

    [[nodiscard]] static std::vector<Metric> metrics();
    [[nodiscard]] static RunPlot::Shown shown(const Metric& metric);
};

std::vector<MetricsView::Impl::Metric> MetricsView::Impl::metrics()
{
    std::vector<Metric> all{{engine::metric::kGradientNorm, tr("gradient norm"), {}, {}},
                            {engine::metric::kLearningRate, tr("learning rate"), {}, {}},
                            {engine::metric::kThroughput, tr("throughput"), tr("tokens or samples a second"), {}},
                            {engine::metric::kPeakBytes, tr("peak memory"), tr("MiB"), {}}};
    for (const engine::RowCurves& row : engine::kRowCurves) {
        all.push_back({CurveRow(row.matrix, row.row), QString::fromUtf8(row.title), QString::fromUtf8(row.unit),
                       QString::fromUtf8(row.column)});
    }
    return all;
}

RunPlot::Shown MetricsView::Impl::shown(const Metric& metric)
{
    const QString label = metric.unit.isEmpty() ? metric.title : tr("%1 (%2)").arg(metric.title, metric.unit);
    const QString title = metric.column.isEmpty() ? metric.title : metric.column;
    return {.number = metric.number, .title = title, .label = label};
}

MetricsView::Impl::Impl(const ShownRuns& runs, MetricsView* view)
    : curves(new RunPlot(runs,
                         {{engine::metric::kGradientNorm, &engine::StepRecord::gradientNorm},
                          {engine::metric::kLearningRate, &engine::StepRecord::learningRate}},
                         takeMetrics, shown(metrics().front()),
                         tr("Norms, speed and memory of a run appear here while it trains."), view))
{
    view->setAccessibleName(tr("Magnitudes and speed"));
    curves->plot().setAccessibleName(tr("Plot of magnitudes and speed"));
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

MetricsView::MetricsView(const ShownRuns& runs, QWidget* parent)
    : PlotView(parent), m_impl(std::make_unique<Impl>(runs, this))
{
}

MetricsView::~MetricsView() = default;

void MetricsView::setTheme(resources::Theme theme)
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
