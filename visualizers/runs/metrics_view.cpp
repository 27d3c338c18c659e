// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/metrics_view.h"

#include "engine/base/api/row_curves.h"
#include "engine/base/api/values.h"
#include "projects/base/ranges.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/curve_name.h"
#include "visualizers/runs/run_plot.h"

#include <QComboBox>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <set>

namespace residua::visualizers {
namespace {

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

void takeMatrices(RunCurves& curves, const engine::Progress& numbers)
{
    for (const engine::Matrix& matrix : numbers.matrices) {
        if (engine::hasRowCurves(matrix)) {
            takeRows(curves, matrix);
        }
    }
}

/// A choice of the view.
struct Choice {
    RunPlot::Number number;
    QString title;
    QString unit;
    QString column = {}; ///< name of what each curve is of; empty for a single curve
};

Choice choiceOf(const engine::MetricTraits& metric)
{
    return {metric.name, QString::fromStdString(metric.title), QString::fromStdString(metric.unit)};
}

RunPlot::Shown shown(const Choice& choice)
{
    const QString label =
        choice.unit.isEmpty() ? choice.title : MetricsView::tr("%1 (%2)").arg(choice.title, choice.unit);
    const QString title = choice.column.isEmpty() ? choice.title : choice.column;
    return {.number = choice.number, .title = title, .label = label};
}

} // namespace

class MetricsView::Impl {
public:
    Impl(ShownRuns& runs, MetricsView* view);

    RunPlot* curves;

private:
    void offer(const Choice& choice);
    /// Offers the metrics that a run has recorded and that are not offered yet.
    void offerMetrics(const engine::Progress& numbers);

    PlotChoice* m_choice;
    std::vector<Choice> m_choices; ///< in the order of `m_choice`
};

MetricsView::Impl::Impl(ShownRuns& runs, MetricsView* view)
    : curves(new RunPlot(runs,
                         {{engine::metric::kGradientNorm, &engine::StepRecord::gradientNorm},
                          {engine::metric::kLearningRate, &engine::StepRecord::learningRate}},
                         takeMatrices, shown(choiceOf(engine::plottedMetrics({}).front())),
                         tr("Norms, speed and memory of a run appear here while it trains."), view)),
      m_choice(new PlotChoice(view))
{
    view->setAccessibleName(tr("Magnitudes and speed"));
    curves->plot().setAccessibleName(tr("Plot of magnitudes and speed"));
    setNames(*m_choice, "metric", tr("Metric"));
    offerMetrics({});
    for (const engine::RowCurves& row : engine::kRowCurves) {
        offer({CurveRow(row.matrix, row.row), QString::fromUtf8(row.title), QString::fromUtf8(row.unit),
               QString::fromUtf8(row.column)});
    }
    curves->putFirst(m_choice);
    makeColumn(view, kNoMargins, {curves});
    QObject::connect(m_choice, &QComboBox::currentIndexChanged, view,
                     [this](int index) { curves->setShown(shown(m_choices.at(static_cast<std::size_t>(index)))); });
    QObject::connect(&runs, &ShownRuns::added, view,
                     [this](const std::string&, const engine::Progress& numbers) { offerMetrics(numbers); });
}

void MetricsView::Impl::offer(const Choice& choice)
{
    m_choices.push_back(choice);
    m_choice->addItem(choice.title);
}

void MetricsView::Impl::offerMetrics(const engine::Progress& numbers)
{
    auto names = mapped<std::set<std::string>>(numbers.rows, &engine::MetricRow::name);
    for (const engine::MetricTraits& metric : engine::plottedMetrics(names)) {
        if (std::ranges::find(m_choices, RunPlot::Number(metric.name), &Choice::number) == m_choices.end()) {
            offer(choiceOf(metric));
        }
    }
}

MetricsView::MetricsView(ShownRuns& runs, QWidget* parent)
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
