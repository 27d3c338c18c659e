// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/runs/run_plot_controls.h"

#include "projects/base/ranges.h"
#include "visualizers/plot/arrange.h"

#include <QComboBox>
#include <QLayout>

#include <cmath>
#include <utility>

namespace residua::visualizers {
namespace {

constexpr int kSmoothingSteps = 20;
constexpr int kMostPoints = 1000; ///< of the moving average

} // namespace

RunPlotControls::RunPlotControls(QWidget* parent) : QWidget(parent)
{
    layOut();
    connect(m_axis, &QComboBox::currentIndexChanged, this, [this] { emit axisChosen(axis()); });
    connect(m_scale, &QComboBox::currentIndexChanged, this, &RunPlotControls::chooseScale);
    connect(m_smoothing, &QSlider::valueChanged, this, [this] {
        showPoints();
        emit windowChosen(window());
    });
    for (QCheckBox* box : {m_bounds, m_seeds}) {
        connect(box, &QCheckBox::toggled, this, &RunPlotControls::partsChosen);
    }
    connect(m_stages, &QComboBox::currentIndexChanged, this, &RunPlotControls::stagesChosen);
    connect(m_baseline, &QComboBox::currentIndexChanged, this, [this](int index) { emit baselineChosen(index - 1); });
}

void RunPlotControls::layOut()
{
    m_axis->addItems({tr("by step"), tr("by tokens or samples"), tr("by FLOP"), tr("by time (s)")});
    setNames(*m_axis, "horizontalAxis", tr("Horizontal axis"));
    m_scale->addItems({tr("linear"), tr("log y"), tr("log x"), tr("log x and y"), tr("symmetric log y")});
    setNames(*m_scale, "scale", tr("Scale"));
    m_smoothing->setRange(0, kSmoothingSteps);
    giveWay(*m_smoothing);
    setNames(*m_smoothing, "smoothing", tr("Smoothing"),
             tr("Moving average over 1 to 1,000 points, and over at most a fifth of the points so far. It lags behind "
                "a loss "
                "that falls; the recorded points stay faint behind it"));
    m_points->setObjectName(QStringLiteral("smoothingPoints"));
    m_points->setMinimumWidth(m_points->fontMetrics().horizontalAdvance(tr("%n points", nullptr, kMostPoints)));
    showPoints();
    m_bounds->setObjectName(QStringLiteral("bounds"));
    m_bounds->setChecked(true);
    m_bounds->hide();
    setNames(*m_seeds, "seedsAsBand", {},
             tr("Runs that differ in their seeds alone: their mean, and one standard deviation around it"));
    m_seeds->setChecked(true);
    m_seeds->hide();
    setNames(*m_stages, "stagesOf", tr("Stages"));
    m_stages->hide();
    setNames(*m_baseline, "baseline", tr("Baseline"),
             tr("The differences from one of the runs at each step. Runs with equal seeds see equal "
                "batches and are paired; the band is the interval of 95 % of the mean difference"));
    m_baseline->hide();

    m_row->addWidget(m_axis);
    m_row->addWidget(m_scale);
    QWidget* const smoothing = captioned(tr("Smoothing"), *m_smoothing);
    smoothing->layout()->addWidget(m_points);
    m_row->addWidget(smoothing);
    m_row->addWidget(m_bounds);
    m_row->addWidget(m_seeds);
    m_row->addWidget(m_baseline);
    m_row->addWidget(m_stages);
}

QString RunPlotControls::axisName() const
{
    return QStringList{tr("step"), tr("tokens or samples"), tr("FLOP"), tr("seconds"), tr("environment steps")}.at(
        m_axis->currentIndex());
}

void RunPlotControls::offerEnvironmentSteps(bool offered)
{
    constexpr int kItem = static_cast<int>(XAxis::EnvironmentSteps);
    if (offered && m_axis->count() == kItem) {
        m_axis->addItem(tr("by environment steps"));
    } else if (!offered && m_axis->count() > kItem) {
        if (m_axis->currentIndex() == kItem) {
            m_axis->setCurrentIndex(0);
        }
        m_axis->removeItem(kItem);
    }
}

void RunPlotControls::showPoints()
{
    m_points->setText(smooths() ? tr("%n points", nullptr, static_cast<int>(std::lround(window()))) : tr("none"));
}

/// Exponential in the slider's value, so that its steps look even.
double RunPlotControls::window() const
{
    return std::pow(10.0, 3.0 * m_smoothing->value() / kSmoothingSteps);
}

void RunPlotControls::chooseScale(int index)
{
    constexpr std::pair<AxisScale, AxisScale> kScales[] = {
        {AxisScale::Linear, AxisScale::Linear},
        {AxisScale::Linear, AxisScale::Logarithmic},
        {AxisScale::Logarithmic, AxisScale::Linear},
        {AxisScale::Logarithmic, AxisScale::Logarithmic},
        {AxisScale::Linear, AxisScale::SymmetricLogarithmic},
    };
    emit scaleChosen(kScales[index].first, kScales[index].second);
}

void RunPlotControls::explainBounds(const QString& claims)
{
    m_bounds->setToolTip(claims.isEmpty() ? tr("What theorems say of these losses") : claims);
}

void RunPlotControls::offerBaselines(const QStringList& names, int shown)
{
    QStringList texts{tr("as recorded")};
    for (const QString& name : names) {
        texts << tr("relative to %1").arg(name);
    }
    offer(*m_baseline, texts, shown + 1);
    m_baseline->setVisible(names.size() > 1);
}

void RunPlotControls::offerStages(const QStringList& runs, int shown)
{
    auto texts = mapped<QStringList>(runs, [&](const QString& run) { return tr("stages of %1").arg(run); });
    texts << tr("no stages");
    offer(*m_stages, texts, shown);
    m_stages->setToolTip(m_stages->currentText() + QLatin1Char('\n') +
                         tr("The run whose stages are the bands, and whose transitions are in the table"));
    m_stages->setVisible(!runs.isEmpty());
}

void RunPlotControls::putFirst(QWidget* control, QWidget* after)
{
    m_row->putFirst(control);
    QWidget* before = control;
    for (QWidget* next : std::initializer_list<QWidget*>{m_axis, m_scale, m_smoothing, m_bounds, m_seeds, m_baseline,
                                                         m_stages, after}) {
        setTabOrder(before, next);
        before = next;
    }
}

} // namespace residua::visualizers
