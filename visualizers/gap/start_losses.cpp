// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/start_losses.h"

#include "engine/runs/results/run_reader.h"
#include "projects/schema/method_keys.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/runs/run_plot.h"

#include <QVBoxLayout>

#include <utility>

namespace residua::visualizers {

class StartLosses::Impl {
public:
    Impl(const ShownRuns& all, StartLosses* view);

    void begin(const std::string& key);
    void remove(const std::string& key);

    const ShownRuns& all;
    StartLosses* view;
    ShownRuns starts; ///< the runs of `all` that are shown here
    RunPlot* curves;
};

StartLosses::Impl::Impl(const ShownRuns& shown, StartLosses* of)
    : all(shown),
      view(of),
      curves(new RunPlot(starts, {{engine::metric::kLoss, &engine::StepRecord::loss}}, {},
                         {.number = engine::metric::kLoss,
                          .title = tr("training"),
                          .label = tr("loss"),
                          .beside = {{engine::metric::kValidationLoss, tr("validation")}}},
                         tr("Train from each start: their losses are laid over each other here."), of))
{
    curves->plot().setAccessibleName(tr("Losses from each start"));
    connect(&all, &ShownRuns::begun, view, [this](const std::string& key) { begin(key); });
    connect(&all, &ShownRuns::added, view,
            [this](const std::string& key, const RunNumbers& numbers) { starts.add(key, numbers); });
    connect(&all, &ShownRuns::stagesChanged, view,
            [this](const std::string& key) { starts.setStages(key, all.find(key)->stages); });
    connect(&all, &ShownRuns::overlayRemoved, view, [this](const std::string& key) { remove(key); });
}

void StartLosses::Impl::begin(const std::string& key)
{
    const ShownRuns::Run* const run = all.find(key);
    if (run == nullptr || !run->overlaid || !run->facts.start) {
        return;
    }
    const bool first = starts.runs().empty();
    ShownRuns::Facts facts = run->facts;
    facts.name = QString::fromStdString(projects::titleOf(*facts.start));
    starts.overlay(key);
    starts.paint(key, colourOf(*facts.start));
    starts.begin(key, facts);
    if (first) {
        emit view->emptyChanged();
    }
}

void StartLosses::Impl::remove(const std::string& key)
{
    const bool any = !starts.runs().empty();
    starts.removeOverlay(key);
    if (any && starts.runs().empty()) {
        emit view->emptyChanged();
    }
}

StartLosses::StartLosses(const ShownRuns& runs, QWidget* parent)
    : PlotView(parent), m_impl(std::make_unique<Impl>(runs, this))
{
    setAccessibleName(tr("Losses from each start"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_impl->curves);
}

StartLosses::~StartLosses()
{
    delete m_impl->curves; // before m_impl, because the curves follow models in it
}

bool StartLosses::isEmpty() const
{
    return m_impl->starts.runs().empty();
}

void StartLosses::setTheme(resources::Theme theme)
{
    m_impl->curves->setTheme(theme);
}

CsvText StartLosses::csvText() const
{
    return m_impl->curves->csvText();
}

QCustomPlot& StartLosses::plot() const
{
    return m_impl->curves->plot();
}

} // namespace residua::visualizers
