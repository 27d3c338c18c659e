// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/loss_view.h"
#include "engine/results/run_reader.h"
#include "visualizers/runs/run_plot.h"
#include "visualizers/runs/transitions_model.h"

#include <QHeaderView>
#include <QTableView>
#include <QVBoxLayout>

namespace residua::visualizers {
namespace {

constexpr int kSmoothing = 8;

} // namespace

class LossView::Impl {
public:
    explicit Impl(LossView* view);

    void refresh();

    RunPlot* curves;
    QTableView* table;
    TransitionsModel transitions;
};

LossView::Impl::Impl(LossView* view)
    : curves(new RunPlot({{engine::metric::kLoss, &engine::StepRecord::loss}},
                         {.name = engine::metric::kLoss,
                          .title = tr("training"),
                          .label = tr("loss"),
                          .beside = engine::metric::kValidationLoss,
                          .besideTitle = tr("validation")},
                         tr("Run the project to see its loss."), view)),
      table(new QTableView(view))
{
    view->setAccessibleName(tr("Loss"));
    curves->plot().setAccessibleName(tr("Loss plot"));
    curves->setSmoothing(kSmoothing);
    table->setModel(&transitions);
    table->setAccessibleName(tr("Stage transitions"));
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->verticalHeader()->hide();
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table->setShowGrid(false);
    table->hide();
    curves->putBeside(table);
    auto* column = new QVBoxLayout(view);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(curves);
}

void LossView::Impl::refresh()
{
    curves->refresh();
    transitions.setTransitions(curves->transitions());
    table->setVisible(transitions.rowCount() > 0);
}

LossView::LossView(QWidget* parent) : PlotView(parent), m_impl(std::make_unique<Impl>(this)) {}

LossView::~LossView() = default;

void LossView::setRun(const QString& key, const QString& name)
{
    m_impl->curves->setRun(key, name);
    m_impl->refresh();
}

void LossView::setFlopPerUnit(const QString& key, double flop)
{
    m_impl->curves->run(key).setFlopPerUnit(flop);
    m_impl->refresh();
}

void LossView::setEvents(const QString& key, const std::vector<engine::RunEvent>& events)
{
    m_impl->curves->setEvents(key, events);
    m_impl->refresh();
}

void LossView::removeRun(const QString& key)
{
    m_impl->curves->removeRun(key);
    m_impl->refresh();
}

QColor LossView::colourOf(const QString& key) const
{
    return m_impl->curves->colourOf(key);
}

void LossView::clear()
{
    m_impl->curves->clear();
    m_impl->refresh();
}

void LossView::append(const QString& key, const std::vector<engine::StepRecord>& steps,
                      const std::vector<engine::ValidationRecord>& validations)
{
    RunCurves& run = m_impl->curves->run(key);
    run.append(steps);
    std::vector<engine::MetricPoint> points;
    points.reserve(validations.size());
    for (const auto& [step, loss] : validations) {
        points.push_back({step, loss});
    }
    run.append(engine::metric::kValidationLoss, points);
    m_impl->refresh();
}

void LossView::setTheme(Theme theme)
{
    m_impl->curves->setTheme(theme);
}

CsvText LossView::csvText() const
{
    return m_impl->curves->csvText();
}

QCustomPlot& LossView::plot() const
{
    return m_impl->curves->plot();
}

} // namespace residua::visualizers
