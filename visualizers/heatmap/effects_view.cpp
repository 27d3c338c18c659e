// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/effects_view.h"

#include "projects/base/text.h"
#include "projects/depth/weight_scale.h"
#include "projects/studies/paired_difference.h"
#include "visualizers/heatmap/heatmap_grid.h"
#include "visualizers/plot/control_rows.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"

#include <QComboBox>
#include <QLabel>
#include <QTextStream>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace residua::visualizers {

EffectsView::EffectsView(QWidget* parent)
    : PlotView(parent),
      m_title(new QLabel(this)),
      m_readout(new QLabel(this)),
      m_picture(new PlotChoice(this)),
      m_grid(new HeatmapGrid({}, this)),
      m_points(new CurvePlot(this))
{
    setAccessibleName(tr("Effects of a knock-out"));
    m_grid->setAccessibleName(tr("Heatmap of effects"));
    m_points->setAccessibleName(tr("Plot of effects"));
    m_title->setObjectName(QStringLiteral("effectsTitle"));
    m_title->setTextFormat(Qt::PlainText); // a run's name is the user's
    m_title->setWordWrap(true);
    m_title->setContentsMargins(8, 2, 8, 0);
    m_picture->setObjectName(QStringLiteral("effectsPicture"));
    m_picture->setAccessibleName(tr("Picture of the effects"));
    m_picture->addItems({tr("effects as a grid"), tr("effect against weight")});
    auto* controls = new ControlRows;
    controls->addWidget(m_picture);
    controls->addWidget(m_readout);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(m_title);
    column->addLayout(controls);
    for (QCustomPlot* each : {static_cast<QCustomPlot*>(m_grid), static_cast<QCustomPlot*>(m_points)}) {
        each->setMinimumHeight(kLeastPlotHeight);
        column->addWidget(each, 1);
    }
    connect(m_picture, &QComboBox::currentIndexChanged, this, &EffectsView::draw);
    connect(m_grid, &HeatmapGrid::readingChanged, m_readout, &QLabel::setText);
    setEffects({}, {});
}

void EffectsView::setEffects(const engine::KnockoutReady& measured, const QString& of)
{
    m_measured = measured;
    m_of = of;
    setVisible(!measured.rows.empty());
    draw();
}

bool EffectsView::ofShortcuts() const
{
    return !m_measured.rows.empty() && m_measured.rows.front().reader > 0;
}

bool EffectsView::asGrid() const
{
    return ofShortcuts() && m_picture->currentIndex() == 0;
}

void EffectsView::draw()
{
    m_picture->setVisible(ofShortcuts());
    m_readout->setVisible(asGrid());
    m_grid->setVisible(asGrid());
    m_points->setVisible(!asGrid());
    m_title->setText(tr("%1, step %2, %3 batches, loss %4")
                         .arg(m_of, QString::fromStdString(groupedText(m_measured.step)),
                              QString::fromStdString(groupedText(m_measured.batches)),
                              QString::fromStdString(numberText(m_measured.loss, 5))));
    if (asGrid()) {
        drawGrid();
    } else if (ofShortcuts()) {
        drawAgainstWeights();
    } else {
        drawByPart();
    }
}

void EffectsView::drawGrid()
{
    HeatmapGrid::Picture picture;
    projects::FiniteRange range;
    for (const engine::KnockoutRow& row : m_measured.rows) {
        picture.rows = std::max(picture.rows, static_cast<int>(row.reader));
        picture.columns = std::max(picture.columns, static_cast<int>(row.first) + 1);
        range.add(row.rise);
    }
    picture.columns = std::max(picture.columns, picture.rows);
    picture.cells.assign(static_cast<std::size_t>(picture.rows) * static_cast<std::size_t>(picture.columns),
                         std::numeric_limits<float>::quiet_NaN());
    for (const engine::KnockoutRow& row : m_measured.rows) {
        picture.cells[static_cast<std::size_t>((row.reader - 1) * picture.columns + row.first)] =
            static_cast<float>(row.rise);
    }
    picture.scale = range.empty() ? projects::WeightScale() : projects::differenceScale(range.low, range.high);
    picture.label = tr("rise of the loss");
    m_grid->setPicture(picture);
}

void EffectsView::drawAgainstWeights()
{
    std::vector<const engine::KnockoutRow*> rows;
    for (const engine::KnockoutRow& row : m_measured.rows) {
        if (std::isfinite(row.weight) && std::isfinite(row.rise)) {
            rows.push_back(&row);
        }
    }
    std::ranges::sort(rows, {}, &engine::KnockoutRow::weight);
    std::vector<double> weights;
    std::vector<double> rises;
    PlotSpec spec;
    PlotCurve& points = spec.curves.emplace_back();
    points.stroke = Stroke::Dots;
    points.marks = true;
    points.reading = tr("effect").toStdString();
    for (const engine::KnockoutRow* row : rows) {
        weights.push_back(row->weight);
        rises.push_back(row->rise);
        points.points.append(row->weight, row->rise);
    }
    spec.xLabel = tr("weight").toStdString();
    spec.yLabel = tr("rise of the loss").toStdString();
    m_points->setSpec(std::move(spec));
    const double correlation = projects::rankCorrelation(weights, rises);
    m_title->setText(m_title->text() + (std::isnan(correlation)
                                            ? tr(", rank correlation unknown")
                                            : tr(", rank correlation %1").arg(correlation, 0, 'f', 2)));
}

/// Draws a point for each part, and its standard error as an area around it.
void EffectsView::drawByPart()
{
    PlotSpec spec;
    spec.curves.resize(3);
    PlotCurve& low = spec.curves[0];
    PlotCurve& high = spec.curves[1];
    PlotCurve& points = spec.curves[2];
    low.stroke = high.stroke = Stroke::Dots;
    high.fillTo = 0;
    high.alpha = 0.25;
    points.marks = true;
    points.stroke = Stroke::Dots;
    points.reading = tr("effect").toStdString();
    double place = 0;
    for (const engine::KnockoutRow& row : m_measured.rows) {
        ++place;
        const double error = std::isfinite(row.error) ? row.error : 0;
        low.points.append(place, row.rise - error);
        high.points.append(place, row.rise + error);
        points.points.append(place, row.rise);
    }
    spec.xLabel = tr("part, in the order of the network").toStdString();
    spec.yLabel = tr("rise of the loss").toStdString();
    m_points->setSpec(std::move(spec));
}

void EffectsView::setTheme(resources::Theme theme)
{
    m_grid->setTheme(theme);
    m_points->setTheme(theme);
}

CsvText EffectsView::csvText() const
{
    return [measured = m_measured](QTextStream& out) {
        out << "part,weight,effect,standard_error,divergence\n";
        for (const engine::KnockoutRow& row : measured.rows) {
            out << QString::fromStdString(row.name);
            for (const double number : {row.weight, row.rise, row.error, row.divergence}) {
                out << ',' << QString::fromStdString(numberText(number));
            }
            out << '\n';
        }
    };
}

QCustomPlot& EffectsView::plot() const
{
    return asGrid() ? static_cast<QCustomPlot&>(*m_grid) : *m_points;
}

} // namespace residua::visualizers
