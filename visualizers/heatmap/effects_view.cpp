// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/effects_view.h"

#include "engine/runs/results/visit_results.h"
#include "projects/base/text.h"
#include "projects/depth/weight_scale.h"
#include "visualizers/heatmap/effects_plot.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/heatmap/shown_effects.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"

#include <QAction>
#include <QComboBox>
#include <QCursor>
#include <QSignalBlocker>
#include <QTextStream>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace residua::visualizers {

EffectsView::EffectsView(ShownEffects& effects, const ShownMatrices& matrices, QWidget* parent)
    : PlotView(parent),
      m_effects(effects),
      m_matrices(matrices),
      m_result(new PlotChoice(this)),
      m_picture(new PlotChoice(this)),
      m_controls(new ControlRows),
      m_grid(new HeatmapGrid({}, this)),
      m_points(new EffectsPlot(this))
{
    layOut();
    connect(m_result, &QComboBox::currentIndexChanged, this,
            [this](int place) { m_effects.choose(static_cast<std::size_t>(std::max(place, 0))); });
    connect(m_picture, &QComboBox::currentIndexChanged, this, &EffectsView::draw);
    connect(&effects, &ShownEffects::changed, this, &EffectsView::draw);
    connect(&matrices, &ShownMatrices::changed, this, [this] {
        if (asGrid()) {
            drawGrid(); // it has the rows and columns of the shown weights
        }
    });
    connect(m_grid, &HeatmapGrid::cellPointed, this, &EffectsView::pointCell);
    connect(m_points, &EffectsPlot::pointed, this, &EffectsView::pointRow);
    EffectsView::setTheme(resources::Theme::Light);
    draw();
}

void EffectsView::layOut()
{
    setAccessibleName(tr("Effects of a knock-out"));
    m_grid->setAccessibleName(tr("Heatmap of effects"));
    m_points->setAccessibleName(tr("Plot of effects"));
    m_title->setObjectName(QStringLiteral("effectsTitle"));
    m_title->setTextFormat(Qt::PlainText);
    m_title->setWordWrap(true);
    m_title->setContentsMargins(8, 2, 8, 0);
    setNames(*m_result, "effectsResult", tr("Knock-out"));
    setNames(*m_picture, "effectsPicture", tr("Picture of the effects"));
    m_picture->addItems({tr("as a grid"), tr("against the weights")});
    setNames(*m_hide, "effectsHide", {}, tr("Show the weights instead"));
    m_hide->setText(tr("Weights"));
    connect(m_hide, &QToolButton::clicked, this, &EffectsView::hideRequested);
    m_controls->addWidget(m_result);
    m_controls->addWidget(m_picture);
    m_controls->addWidget(m_hide);
    auto* column = makeColumn(this, {QMargins(), 2}, {m_title, m_controls});
    for (QCustomPlot* each : {static_cast<QCustomPlot*>(m_grid), static_cast<QCustomPlot*>(m_points)}) {
        each->setFocusPolicy(Qt::StrongFocus);
        each->setMinimumHeight(kLeastPlotHeight / 2); // its title and controls are higher than those of the weights
        column->addWidget(each, 1);
    }
}

void EffectsView::setAlone(bool alone)
{
    m_hide->setVisible(alone);
}

void EffectsView::addCommand(QAction* command)
{
    auto* const button = new QToolButton(this);
    button->setDefaultAction(command);
    m_controls->addWidget(button);
}

bool EffectsView::ofShortcuts() const
{
    return m_effects.shown() != nullptr && m_effects.shown()->key.by == projects::KnockoutBy::Term;
}

bool EffectsView::asGrid() const
{
    return ofShortcuts() && m_picture->currentIndex() == 0;
}

/// Returns the loss of the whole network, the rank correlation of weights and effects, and the notes on the result.
QString EffectsView::title() const
{
    if (m_effects.shown() == nullptr) {
        return {};
    }
    constexpr int kDigits = 5;
    const engine::KnockoutReady& measured = m_effects.shown()->measured;
    QString text = tr("Loss %1").arg(QString::fromStdString(numberText(measured.loss, kDigits)));
    if (ofShortcuts()) {
        const double correlation = engine::weightAgainstEffect(measured);
        text +=
            QStringLiteral(" · ") +
            (std::isnan(correlation)
                 ? tr("no rank correlation, with equal or fewer than 3 weights")
                 : tr("rank correlation with the weights %1").arg(QString::fromStdString(numberText(correlation, 2))));
    }
    if (measured.batches == 1) {
        text += QStringLiteral(" · ") + tr("one batch has no standard error");
    }
    if (m_effects.shown()->key.by == projects::KnockoutBy::Visits) {
        for (const engine::VisitFit& fit : engine::visitFitsOf(measured)) {
            text += QLatin1Char('\n') + QString::fromStdString(fit.text());
        }
    }
    for (const std::string& note : measured.notes) {
        text += QLatin1Char('\n') + QString::fromStdString(note);
    }
    return text;
}

void EffectsView::fillResults()
{
    const QSignalBlocker quiet(m_result);
    m_result->clear();
    for (const engine::KeptEffects& each : m_effects.all()) {
        m_result->addItem(titleOf(each));
    }
    m_result->setCurrentIndex(static_cast<int>(m_effects.place()));
}

void EffectsView::draw()
{
    fillResults();
    m_title->setText(title());
    m_picture->setVisible(ofShortcuts());
    m_grid->setVisible(asGrid());
    m_points->setVisible(!asGrid());
    if (m_effects.shown() == nullptr) {
        m_grid->setNothing();
        m_points->setRows({}, EffectsPlot::As::Parts);
    } else if (asGrid()) {
        drawGrid();
    } else {
        m_points->setRows(m_effects.shown()->measured.rows,
                          ofShortcuts() ? EffectsPlot::As::AgainstWeights : EffectsPlot::As::Parts);
    }
}

void EffectsView::drawGrid()
{
    HeatmapGrid::Picture picture;
    if (m_matrices.any() && m_matrices.series().isOfShortcuts()) {
        const engine::Matrix weights = m_matrices.frameShown().matrix;
        picture.rows = static_cast<int>(weights.rows);
        picture.columns = static_cast<int>(weights.columns);
    }
    projects::FiniteRange range;
    const std::vector<engine::KnockoutRow>& rows = m_effects.shown()->measured.rows;
    for (const engine::KnockoutRow& row : rows) {
        picture.rows = std::max(picture.rows, static_cast<int>(row.reader));
        picture.columns = std::max(picture.columns, static_cast<int>(row.first) + 1);
        range.add(row.rise);
    }
    picture.cells.assign(static_cast<std::size_t>(picture.rows) * static_cast<std::size_t>(picture.columns),
                         std::numeric_limits<float>::quiet_NaN());
    for (const engine::KnockoutRow& row : rows) {
        picture.cells[static_cast<std::size_t>((row.reader - 1) * picture.columns + row.first)] =
            static_cast<float>(row.rise);
    }
    picture.scale = range.empty() ? projects::WeightScale() : projects::differenceScale(range.low, range.high);
    picture.label = tr("rise of the loss");
    picture.layerNames = m_matrices.layerNames();
    m_grid->setPicture(picture);
}

void EffectsView::pointCell(int row, int column)
{
    if (row < 0 || m_effects.shown() == nullptr) {
        QToolTip::hideText();
        emit cellHovered(-1, -1);
        return;
    }
    const auto isHere = [&](const engine::KnockoutRow& part) { return part.reader == row + 1 && part.first == column; };
    const auto& rows = m_effects.shown()->measured.rows;
    const auto found = std::ranges::find_if(rows, isHere);
    QToolTip::showText(QCursor::pos(), found == rows.end() ? QString() : readingOf(*found), m_grid);
    emit cellHovered(row, column);
}

void EffectsView::pointRow(int row)
{
    if (row < 0 || m_effects.shown() == nullptr) {
        QToolTip::hideText();
        emit cellHovered(-1, -1);
        return;
    }
    const engine::KnockoutRow& part = m_effects.shown()->measured.rows[static_cast<std::size_t>(row)];
    QToolTip::showText(QCursor::pos(), readingOf(part), m_points);
    if (ofShortcuts()) {
        emit cellHovered(static_cast<int>(part.reader) - 1, static_cast<int>(part.first));
    }
}

void EffectsView::setHighlighted(int row, int column)
{
    if (asGrid()) {
        m_grid->outline(row, column);
    }
}

void EffectsView::setTheme(resources::Theme theme)
{
    m_grid->setTheme(theme);
    m_points->setTheme(theme);
    draw();
}

CsvText EffectsView::csvText() const
{
    const engine::KnockoutReady measured =
        m_effects.shown() != nullptr ? m_effects.shown()->measured : engine::KnockoutReady{};
    return [measured](QTextStream& out) { out << QString::fromStdString(engine::effectsCsv(measured)); };
}

QCustomPlot& EffectsView::plot() const
{
    return asGrid() ? static_cast<QCustomPlot&>(*m_grid) : *m_points;
}

} // namespace residua::visualizers
