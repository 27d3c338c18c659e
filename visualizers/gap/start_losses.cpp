// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/gap/start_losses.h"

#include "engine/runs/results/run_reader.h"
#include "projects/schema/method_keys.h"
#include "visualizers/gap/gap_bars.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/runs/run_plot.h"

#include <QVBoxLayout>

namespace residua::visualizers {

StartLosses::StartLosses(const ShownRuns& runs, QWidget* parent)
    : PlotView(parent),
      m_all(runs),
      m_curves(new RunPlot(m_starts, {{engine::metric::kLoss, &engine::StepRecord::loss}}, {},
                           {.number = engine::metric::kLoss,
                            .title = tr("training"),
                            .label = tr("loss"),
                            .beside = {{engine::metric::kValidationLoss, tr("validation")}}},
                           tr("Train from each start: their losses are laid over each other here."), this))
{
    setAccessibleName(tr("Losses from each start"));
    m_curves->plot().setAccessibleName(tr("Losses from each start"));
    makeColumn(this, kNoMargins, {m_curves});
    connect(&m_all, &ShownRuns::begun, this, &StartLosses::begin);
    connect(&m_all, &ShownRuns::added, this,
            [this](const std::string& key, const engine::Progress& numbers) { m_starts.add(key, numbers); });
    connect(&m_all, &ShownRuns::overlayRemoved, this, &StartLosses::remove);
}

StartLosses::~StartLosses()
{
    delete m_curves; // before m_starts, because the curves follow it
}

void StartLosses::begin(const std::string& key)
{
    const ShownRuns::Run* const run = m_all.find(key);
    if (run == nullptr || !run->overlaid || !run->facts.start) {
        return;
    }
    const bool first = isEmpty();
    ShownRuns::Facts facts = run->facts;
    facts.name = QString::fromStdString(projects::titleOf(*facts.start));
    m_starts.overlay(key);
    m_starts.paint(key, colourOf(*facts.start));
    m_starts.begin(key, facts);
    if (first) {
        emit emptyChanged();
    }
}

void StartLosses::remove(const std::string& key)
{
    const bool any = !isEmpty();
    m_starts.removeOverlay(key);
    if (any && isEmpty()) {
        emit emptyChanged();
    }
}

void StartLosses::setTheme(resources::Theme theme)
{
    m_curves->setTheme(theme);
}

CsvText StartLosses::csvText() const
{
    return m_curves->csvText();
}

QCustomPlot& StartLosses::plot() const
{
    return m_curves->plot();
}

} // namespace residua::visualizers
