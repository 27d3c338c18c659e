// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_controls.h"

#include "visualizers/plot/plot_controls.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

namespace residua::visualizers {
namespace {

constexpr int kMostFeatures = 1'000'000;

} // namespace

HeatmapControls::HeatmapControls(QWidget* parent)
    : QWidget(parent),
      kind(new PlotChoice(this)),
      port(new PlotChoice(this)),
      feature(new QSpinBox(this)),
      value(new PlotChoice(this)),
      distance(new QToolButton(this)),
      pin(new QToolButton(this)),
      play(new QToolButton(this)),
      scrubber(new QSlider(Qt::Horizontal, this)),
      stepLabel(new QLabel(this)),
      readout(new QLabel(this))
{
    name();
    layOut();
}

void HeatmapControls::name()
{
    kind->setAccessibleName(tr("Matrix"));
    kind->setObjectName(QStringLiteral("kind"));
    port->setAccessibleName(tr("Port"));
    port->setObjectName(QStringLiteral("port"));
    feature->setAccessibleName(tr("Feature"));
    feature->setObjectName(QStringLiteral("feature"));
    feature->setRange(kAllFeatures, kMostFeatures);
    feature->setSpecialValueText(tr("all features"));
    feature->setPrefix(tr("feature "));
    feature->setButtonSymbols(QAbstractSpinBox::NoButtons); // a number is typed, or stepped by the arrow keys
    feature->setKeyboardTracking(false);                    // a checkpoint is read for each
    feature->setToolTip(tr("The weights of one feature, at the steps that have a checkpoint"));
    feature->setValue(kAllFeatures);
    feature->hide();
    value->setAccessibleName(tr("Cell value"));
    value->setObjectName(QStringLiteral("value"));
    value->addItems({tr("value"), tr("change since start"), tr("change since pinned step"),
                     tr("difference from other run"), tr("log(p / row maximum)")});
    distance->setText(tr("By distance"));
    distance->setObjectName(QStringLiteral("byDistance"));
    distance->setCheckable(true);
    distance->setToolTip(tr("The weights' median and 90th percentile by how far back their source is"));
    pin->setText(tr("Pin"));
    pin->setToolTip(tr("Compare with this step from now on (P)"));
    pin->setAccessibleName(tr("Pin this step"));
    play->setText(QStringLiteral("▶"));
    play->setToolTip(tr("Play the recorded steps (Space)"));
    play->setAccessibleName(tr("Play"));
    play->setCheckable(true);
    scrubber->setAccessibleName(tr("Recorded step"));
    scrubber->setMinimumWidth(90);
}

void HeatmapControls::layOut()
{
    auto* choices = new QHBoxLayout;
    choices->setContentsMargins(8, 4, 8, 0);
    choices->setSpacing(8);
    for (QWidget* each : std::initializer_list<QWidget*>{kind, port, feature, value, distance}) {
        choices->addWidget(each);
    }
    choices->addStretch(1);
    auto* controls = new QHBoxLayout;
    controls->setContentsMargins(8, 0, 8, 0);
    controls->setSpacing(8);
    controls->addWidget(play);
    controls->addWidget(scrubber, 1);
    controls->addWidget(stepLabel);
    controls->addWidget(pin);
    controls->addWidget(readout);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addLayout(choices);
    column->addLayout(controls);
}

} // namespace residua::visualizers
