// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/visits_view.h"

#include "engine/runs/results/visit_results.h"
#include "visualizers/plot/curve_plot.h"
#include "visualizers/plot/plot_controls.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QTextStream>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace residua::visualizers {

VisitsView::VisitsView(QWidget* parent) : PlotView(parent), m_measure(new PlotChoice(this)), m_plot(new CurvePlot(this))
{
    m_measure->setObjectName(QStringLiteral("visitsMeasure"));
    m_measure->setAccessibleName(tr("Measure"));
    m_plot->setAccessibleName(tr("Measure over visits"));
    m_plot->setMinimumHeight(kLeastPlotHeight);
    m_plot->setXText([](double x) { return tr("visit %1").arg(x, 0, 'f', 0); });
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_measure, 0, Qt::AlignLeft);
    column->addWidget(m_plot, 1);
    connect(m_measure, &QComboBox::currentIndexChanged, this, &VisitsView::draw);
}

void VisitsView::setCurves(std::vector<engine::VisitCurve> curves)
{
    m_curves = std::move(curves);
    {
        const QSignalBlocker quiet(m_measure);
        const QVariant chosen = m_measure->currentData();
        m_measure->clear();
        for (const engine::VisitCurve& curve : m_curves) {
            const auto index = static_cast<int>(curve.measure);
            if (m_measure->findData(index) < 0) {
                const projects::Choice& choice =
                    projects::Choices<engine::VisitMeasure>::all[static_cast<std::size_t>(index)];
                m_measure->addItem(QString::fromUtf8(choice.title.data(), std::ssize(choice.title)), index);
            }
        }
        m_measure->setCurrentIndex(std::max(m_measure->findData(chosen), 0));
    }
    draw();
}

void VisitsView::draw()
{
    PlotSpec spec{.xLabel = tr("visit").toStdString(), .yLabel = m_measure->currentText().toStdString()};
    for (const engine::VisitCurve& curve : m_curves) {
        if (static_cast<int>(curve.measure) != m_measure->currentData().toInt()) {
            continue;
        }
        const std::string name = (curve.layer > 0 ? tr("layer %1").arg(curve.layer) : tr("state")).toStdString();
        PlotCurve shown{.name = name, .colour = spec.curves.size(), .group = name, .place = spec.curves.size()};
        shown.reading = spec.yLabel;
        shown.width = 1.8;
        shown.marks = true;
        for (std::size_t i = 0; i < curve.values.size(); ++i) {
            if (!std::isnan(curve.values[i])) {
                shown.points.append(static_cast<double>(i + 1), curve.values[i]);
            }
        }
        spec.curves.push_back(std::move(shown));
    }
    m_plot->setSpec(std::move(spec));
    m_plot->showAll();
}

void VisitsView::setTheme(resources::Theme theme)
{
    m_plot->setTheme(theme);
}

CsvText VisitsView::csvText() const
{
    return [csv = engine::visitsCsv(m_curves)](QTextStream& out) { out << QString::fromStdString(csv); };
}

QCustomPlot& VisitsView::plot() const
{
    return *m_plot;
}

} // namespace residua::visualizers
