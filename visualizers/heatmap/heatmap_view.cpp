// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_view.h"

#include "visualizers/heatmap/distance_plot.h"
#include "visualizers/heatmap/effects_view.h"
#include "visualizers/heatmap/heatmap_controls.h"
#include "visualizers/heatmap/heatmap_frames.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include <string>

namespace residua::visualizers {
namespace {

constexpr int kWideEnoughForTwo = 560; ///< pixels, for weights and effects beside each other

} // namespace

HeatmapView::HeatmapView(ShownMatrices& matrices, QWidget* parent)
    : PlotView(parent),
      m_matrices(matrices),
      m_controls(new HeatmapControls(matrices, this)),
      m_grid(
          new HeatmapGrid(matrices.of() == ShownMatrices::Of::Outputs
                              ? tr("Run a project that classifies to see which classes it takes for which, or one that "
                                   "acts in a world to see its episodes.")
                              : tr("Run a project with a learned topology, such as ANCRe, to see its mixing weights."),
                          this)),
      m_distances(new DistancePlot(this))
{
    layOut();
    connect(&matrices, &ShownMatrices::changed, this, &HeatmapView::draw);
    connect(&matrices, &ShownMatrices::remarkChanged, this, &HeatmapView::say);
    connect(m_controls->distance, &QToolButton::toggled, this, &HeatmapView::draw);
    connect(m_grid, &HeatmapGrid::cellPointed, this, [this](int row, int column) {
        if (m_matrices.series().isOfShortcuts()) {
            emit cellHovered(row, column);
        }
    });
    connect(m_grid, &HeatmapGrid::readingChanged, m_controls->readout, &QLabel::setText);
    m_grid->setTheme(resources::Theme::Light);
    draw();
}

void HeatmapView::layOut()
{
    const bool ofOutputs = m_matrices.of() == ShownMatrices::Of::Outputs;
    setAccessibleName(ofOutputs ? tr("Confusion") : tr("Coefficients"));
    m_grid->setAccessibleName(ofOutputs ? tr("Confusion matrix") : tr("Coefficient heatmap"));
    m_grid->setFocusPolicy(Qt::StrongFocus);
    m_whose->setObjectName(QStringLiteral("whose"));
    m_whose->setTextFormat(Qt::PlainText); // a run's name is the user's
    m_whose->setWordWrap(true);
    m_whose->setContentsMargins(8, 2, 8, 0);
    m_grid->setMinimumHeight(kLeastPlotHeight - m_whose->sizeHint().height()); // its row is the grid's in a low panel
    makeRow(this, kNoMargins, {{m_weights, 1}});
    makeColumn(m_weights, {QMargins(), 2}, {m_whose, m_controls, {m_grid, 1}, {m_distances, 1}});
    m_distances->setMinimumHeight(kLeastPlotHeight);
    m_distances->hide();
}

/// Says whose matrices are shown.
void HeatmapView::say()
{
    const QString& remark = m_matrices.remark();
    m_whose->setText(remark.isEmpty() ? m_matrices.whose() : m_matrices.whose() + QLatin1Char('\n') + remark);
}

bool HeatmapView::byDistance() const
{
    return m_controls->distance->isChecked() && m_matrices.any() && m_matrices.series().isOfShortcuts();
}

void HeatmapView::draw()
{
    say();
    m_grid->setVisible(!byDistance());
    m_distances->setVisible(byDistance());
    if (!m_matrices.any()) {
        m_grid->setNothing();
        return;
    }
    const HeatmapFrames::Shown shown = m_matrices.frameShown();
    const engine::Matrix& matrix = shown.matrix;
    const bool recorded = m_matrices.value() == CellValue::Weight;
    const QString title = recorded ? m_controls->kindTitle() : m_matrices.valueTitle();
    HeatmapGrid::Picture picture{static_cast<int>(matrix.rows),
                                 static_cast<int>(matrix.columns),
                                 matrix.values,
                                 shown.scale,
                                 title,
                                 axesOf(matrix.name)};
    if (matrix.name.kind == engine::matrix::kConfusion) {
        for (const std::string& name : engine::namesOfClasses(matrix, m_matrices.classes())) {
            picture.classes << QString::fromStdString(name);
        }
    }
    picture.layerNames = m_matrices.layerNames();
    m_grid->setPicture(picture);
    if (byDistance()) {
        const auto [low, high] = m_matrices.frames().range(m_matrices.series(), m_matrices.value());
        m_distances->setWeights(weightsByDistance(matrix), title, low, high);
    }
}

CsvText HeatmapView::csvText() const
{
    return heatmapCsv(m_matrices.frames(),
                      {m_matrices.run(), QString::fromUtf8(nameOf(m_matrices.port())), m_matrices.series(),
                       m_matrices.value(), byDistance() ? HeatmapTable::Distances : HeatmapTable::Cells});
}

QCustomPlot& HeatmapView::plot() const
{
    return byDistance() ? static_cast<QCustomPlot&>(*m_distances) : *m_grid;
}

void HeatmapView::keyPressEvent(QKeyEvent* event)
{
    QSlider& scrubber = *m_controls->scrubber;
    switch (event->key()) {
    case Qt::Key_Up:
        return m_grid->moveCell(-1, 0);
    case Qt::Key_Down:
        return m_grid->moveCell(1, 0);
    case Qt::Key_Left:
        return m_grid->moveCell(0, -1);
    case Qt::Key_Right:
        return m_grid->moveCell(0, 1);
    case Qt::Key_PageUp:
        return scrubber.setValue(scrubber.value() - 1);
    case Qt::Key_PageDown:
        return scrubber.setValue(scrubber.value() + 1);
    case Qt::Key_Home:
        return scrubber.setValue(0);
    case Qt::Key_End:
        return scrubber.setValue(scrubber.maximum());
    case Qt::Key_Space:
        return m_controls->play->toggle();
    case Qt::Key_P:
        return m_controls->pin->click();
    default:
        PlotView::keyPressEvent(event);
    }
}

void HeatmapView::hideControls()
{
    m_controls->hide();
}

void HeatmapView::addCommand(QAction* command)
{
    m_controls->addCommand(command);
}

void HeatmapView::showBeside(ShownEffects& effects)
{
    m_effects = &effects;
    m_beside = new EffectsView(effects, m_matrices, this);
    static_cast<QHBoxLayout*>(layout())->addWidget(m_beside, 1);
    connect(m_beside, &EffectsView::cellHovered, this, &HeatmapView::cellHovered);
    connect(m_beside, &EffectsView::cellHovered, m_grid, &HeatmapGrid::outline);
    connect(m_grid, &HeatmapGrid::cellPointed, m_beside, &EffectsView::setHighlighted);
    connect(m_beside, &EffectsView::hideRequested, m_controls->effects, [this] { m_controls->effects->toggle(); });
    connect(m_controls->effects, &QToolButton::toggled, this, &HeatmapView::placeEffects);
    connect(&effects, &ShownEffects::changed, this, &HeatmapView::placeEffects);
    placeEffects();
}

/// Shows the effects if there are any and they are wanted, and the weights if there is room for both.
void HeatmapView::placeEffects()
{
    if (m_beside == nullptr) {
        return;
    }
    const bool any = m_effects->shown() != nullptr;
    const bool wanted = any && m_controls->effects->isChecked();
    m_controls->effects->setVisible(any);
    m_beside->setVisible(wanted);
    m_weights->setVisible(!wanted || width() >= kWideEnoughForTwo);
    m_beside->setAlone(wanted && width() < kWideEnoughForTwo);
}

void HeatmapView::resizeEvent(QResizeEvent* event)
{
    PlotView::resizeEvent(event);
    placeEffects();
}

void HeatmapView::setTheme(resources::Theme theme)
{
    m_grid->setTheme(theme);
    m_distances->setTheme(theme);
    draw();
}

void HeatmapView::setHighlighted(int row, int column)
{
    if (m_matrices.series().isOfShortcuts()) {
        m_grid->outline(row, column);
    }
    if (m_beside != nullptr) {
        m_beside->setHighlighted(row, column);
    }
}

} // namespace residua::visualizers
