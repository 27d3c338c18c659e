// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workspace/panels.h"

#include "app/inspector/inspector.h"
#include "app/inspector/problems_view.h"
#include "app/outline/outline_view.h"
#include "app/palette/palette_view.h"
#include "app/records/run_costs.h"
#include "app/runs/layers_panel.h"
#include "app/runs/notes_panel.h"
#include "app/runs/runs_panel.h"
#include "app/runs/samples_panel.h"
#include "app/sides/sides_panel.h"
#include "app/sweeps/sweep_panel.h"
#include "visualizers/gap/gap_view.h"
#include "visualizers/heatmap/heatmap_view.h"
#include "visualizers/pareto/pareto_view.h"
#include "visualizers/runs/loss_view.h"
#include "visualizers/runs/metrics_view.h"
#include "visualizers/theory/theory_view.h"

#include <QCoreApplication>
#include <QSplitter>

namespace residua::app {

namespace {

constexpr QSize kOutline(160, 90);
constexpr QSize kInspector(270, 90); ///< a field beside its name
constexpr QSize kBelow(280, 170);    ///< a plot below its controls
constexpr const char* kContext = "Panels";

QWidget* makeOutline(const PanelModels& models)
{
    return new OutlineView(models.outline);
}

QWidget* makePalette(const PanelModels& models)
{
    return new PaletteView(models.palette);
}

/// Makes the properties of the selection, with the problems of the project below them.
QWidget* makeInspector(const PanelModels& models)
{
    auto* both = new QSplitter(Qt::Vertical);
    both->addWidget(new Inspector);
    both->addWidget(new ProblemsView(models.look));
    both->setStretchFactor(0, 4);
    both->setStretchFactor(1, 1);
    both->setSizes({600, 140});
    both->setChildrenCollapsible(false);
    return both;
}

QWidget* makeLoss(const PanelModels& models)
{
    return new visualizers::LossView(models.shownRuns);
}

QWidget* makeHeatmap(const PanelModels& models)
{
    auto* view = new visualizers::HeatmapView(models.shownMatrices);
    view->showBeside(models.shownEffects);
    return view;
}

QWidget* makeConfusion(const PanelModels& models)
{
    return new visualizers::ConfusionView(models.confusion);
}

QWidget* makeMetrics(const PanelModels& models)
{
    return new visualizers::MetricsView(models.shownRuns);
}

QWidget* makePareto(const PanelModels& models)
{
    auto* view = new visualizers::ParetoView(models.shownRuns);
    QObject::connect(&models.costs, &RunCosts::changed, view, &visualizers::ParetoView::setRuns);
    return view;
}

QWidget* makeTheory(const PanelModels&)
{
    return new visualizers::TheoryView;
}

QWidget* makeGap(const PanelModels& models)
{
    return new visualizers::GapView(models.shownRuns);
}

QWidget* makeRuns(const PanelModels& models)
{
    return new RunsPanel(models.runs, models.shownRuns);
}

QWidget* makeSamples(const PanelModels&)
{
    return new SamplesPanel;
}

QWidget* makeSweep(const PanelModels& models)
{
    return new SweepPanel(models.runs, models.palette);
}

QWidget* makeLayers(const PanelModels& models)
{
    return new LayersPanel(models.shownRuns, models.shownMatrices, models.shownEffects);
}

QWidget* makeNotes(const PanelModels& models)
{
    return new NotesPanel(models.runs);
}

QWidget* makeSides(const PanelModels& models)
{
    return new SidesPanel(models.look, models.runs);
}

constexpr Panel kPanels[] = {
    {"outline", "outlineDock", QT_TRANSLATE_NOOP("Panels", "Outline"), PanelArea::Left, kOutline, makeOutline},
    {"palette", "paletteDock", QT_TRANSLATE_NOOP("Panels", "Palette"), PanelArea::Left, kOutline, makePalette},
    {"inspector", "inspectorDock", QT_TRANSLATE_NOOP("Panels", "Inspector"), PanelArea::Right, kInspector,
     makeInspector},
    {"loss", "lossDock", QT_TRANSLATE_NOOP("Panels", "Loss"), PanelArea::Curves, kBelow, makeLoss},
    {"norms", "metricsDock", QT_TRANSLATE_NOOP("Panels", "Magnitudes and speed"), PanelArea::Curves, kBelow,
     makeMetrics},
    {"pareto", "paretoDock", QT_TRANSLATE_NOOP("Panels", "Pareto"), PanelArea::Curves, kBelow, makePareto},
    {"theory", "theoryDock", QT_TRANSLATE_NOOP("Panels", "Theory"), PanelArea::Curves, kBelow, makeTheory},
    {"gap", "gapDock", QT_TRANSLATE_NOOP("Panels", "Low-rank gap"), PanelArea::Curves, kBelow, makeGap},
    {"coefficients", "heatmapDock", QT_TRANSLATE_NOOP("Panels", "Coefficients"), PanelArea::Tables, kBelow,
     makeHeatmap},
    {"confusion", "confusionDock", QT_TRANSLATE_NOOP("Panels", "Confusion"), PanelArea::Tables, kBelow, makeConfusion},
    {"runs", "runsDock", QT_TRANSLATE_NOOP("Panels", "Runs"), PanelArea::Tables, kBelow, makeRuns},
    {"text", "samplesDock", QT_TRANSLATE_NOOP("Panels", "Samples"), PanelArea::Tables, kBelow, makeSamples},
    {"sweep", "sweepDock", QT_TRANSLATE_NOOP("Panels", "Sweep"), PanelArea::Tables, kBelow, makeSweep},
    {"layers", "layersDock", QT_TRANSLATE_NOOP("Panels", "Layers"), PanelArea::Tables, kBelow, makeLayers},
    {"notes", "notesDock", QT_TRANSLATE_NOOP("Panels", "Notes"), PanelArea::Tables, kBelow, makeNotes},
    {"sides", "sidesDock", QT_TRANSLATE_NOOP("Panels", "Side by side"), PanelArea::Tables, kBelow, makeSides},
};

} // namespace

QString Panel::text() const
{
    return QCoreApplication::translate(kContext, title);
}

std::span<const Panel> panels()
{
    return kPanels;
}

} // namespace residua::app
