// SPDX-License-Identifier: GPL-3.0-or-later
#include "visualizers/heatmap/heatmap_controls.h"

#include "engine/base/api/matrix_name.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "visualizers/heatmap/shown_matrices.h"
#include "visualizers/plot/arrange.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace residua::visualizers {
namespace {

constexpr int kMostFeatures = 1'000'000;
constexpr int kAllFeatures = -1;  ///< used instead of a feature's number
constexpr int kPlayInterval = 60; ///< ms between frames while playing

/// Fills the box with the choices, if there are any, and the current one.
template <class Choice>
void fill(QComboBox& box, const QStringList& titles, const std::vector<Choice>& choices, const Choice& made)
{
    offer(box, titles, static_cast<int>(std::ranges::find(choices, made) - choices.begin()));
    box.setVisible(!choices.empty());
}

} // namespace

HeatmapControls::HeatmapControls(ShownMatrices& matrices, QWidget* parent) : QWidget(parent), m_matrices(matrices)
{
    name();
    layOut();
    connectAll();
    refresh();
}

void HeatmapControls::name()
{
    setNames(*kind, "kind", tr("Matrix"));
    setNames(*port, "port", tr("Port"));
    setNames(*feature, "feature", tr("Feature"));
    feature->setRange(kAllFeatures, kMostFeatures);
    feature->setSpecialValueText(tr("all features"));
    feature->setPrefix(tr("feature "));
    feature->setButtonSymbols(QAbstractSpinBox::NoButtons); // a number is typed, or stepped by the arrow keys
    feature->setKeyboardTracking(false);                    // a checkpoint is read for each value
    feature->setToolTip(tr("The weights of one feature, at the steps that have a checkpoint"));
    setNames(*value, "value", tr("Cell value"));
    value->addItems({tr("value"), tr("change since start"), tr("change since pinned step"),
                     tr("difference from other run"), tr("log(p / row maximum)")});
    distance->setText(tr("By distance"));
    setNames(*distance, "byDistance", {},
             tr("The weights' median and 90th percentile by how far back their source is"));
    distance->setCheckable(true);
    effects->setText(tr("Effects"));
    setNames(*effects, "effects", {}, tr("Show what the run in front loses without each part, as measured"));
    effects->setCheckable(true);
    effects->setChecked(true);
    effects->hide();
    pin->setText(tr("Pin"));
    pin->setToolTip(tr("Compare with this step from now on (P)"));
    pin->setAccessibleName(tr("Pin this step"));
    play->setToolTip(tr("Play the recorded steps (Space)"));
    play->setAccessibleName(tr("Play"));
    play->setCheckable(true);
    scrubber->setAccessibleName(tr("Recorded step"));
    scrubber->setMinimumWidth(90);
}

void HeatmapControls::layOut()
{
    for (QWidget* each : std::initializer_list<QWidget*>{kind, port, feature, value, distance, effects}) {
        m_choices->addWidget(each);
    }
    auto* controls = makeRow(nullptr, {QMargins(8, 0, 8, 0), 8}, {play, {scrubber, 1}, stepLabel, pin, {readout, 1}});
    readout->setSizePolicy(QSizePolicy::Ignored,
                           QSizePolicy::Preferred); // else the slider would move under the pointer
    makeColumn(this, {QMargins(), 2}, {m_choices, controls});
}

void HeatmapControls::addCommand(QAction* command)
{
    auto* const button = new QToolButton(this);
    button->setDefaultAction(command);
    m_choices->addWidget(button);
}

void HeatmapControls::connectAll()
{
    m_player->setInterval(kPlayInterval);
    connect(&m_matrices, &ShownMatrices::changed, this, &HeatmapControls::refresh);
    connect(m_player, &QTimer::timeout, &m_matrices, &ShownMatrices::playOn);
    connect(kind, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_matrices.setKind(m_matrices.kinds().at(static_cast<std::size_t>(index))); });
    connect(port, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_matrices.setPort(m_matrices.ports().at(static_cast<std::size_t>(index))); });
    connect(feature, &QSpinBox::valueChanged, this, [this](int number) {
        m_matrices.wantFeature(number == kAllFeatures ? std::nullopt : std::optional(number));
    });
    connect(value, &QComboBox::currentIndexChanged, this,
            [this](int index) { m_matrices.setValue(static_cast<CellValue>(index)); });
    connect(pin, &QToolButton::clicked, &m_matrices, &ShownMatrices::pin);
    connect(play, &QToolButton::toggled, &m_matrices, &ShownMatrices::play);
    connect(scrubber, &QSlider::valueChanged, this,
            [this](int frame) { m_matrices.showFrame(static_cast<std::size_t>(frame)); });
}

QString HeatmapControls::titleOf(const std::string& of) const
{
    return of == engine::matrix::kMix           ? tr("weights applied")
           : of == engine::matrix::kCoefficient ? tr("coefficients learned")
           : of == engine::matrix::kSpread      ? tr("spread over features")
           : of == engine::matrix::kConfusion   ? tr("confusion matrix")
           : of == engine::matrix::kRollout     ? tr("episodes")
           : of == engine::matrix::kFeature     ? tr("feature %1").arg(m_matrices.feature().value_or(0))
                                                : QString::fromStdString(of);
}

QString HeatmapControls::kindTitle() const
{
    return titleOf(m_matrices.kind());
}

void HeatmapControls::refresh()
{
    auto kinds = mapped<QStringList>(m_matrices.kinds(), [&](const std::string& each) { return titleOf(each); });
    auto ports = mapped<QStringList>(m_matrices.ports(),
                                     [&](const projects::MixPort each) { return QString::fromUtf8(nameOf(each)); });
    fill(*kind, kinds, m_matrices.kinds(), m_matrices.kind());
    fill(*port, ports, m_matrices.ports(), m_matrices.port());
    const QSignalBlocker quietFeature(feature);
    const QSignalBlocker quietValue(value);
    const QSignalBlocker quietPlay(play);
    const QSignalBlocker quietScrubber(scrubber);
    const int wanted = m_matrices.wantedFeature().value_or(kAllFeatures);
    if (feature->value() != wanted) { // setting the same value again would lose a partly typed number
        feature->setValue(wanted);
    }
    feature->setVisible(std::ranges::count(m_matrices.kinds(), engine::matrix::kSpread) > 0); // a weight per feature
    value->setCurrentIndex(static_cast<int>(m_matrices.value()));
    play->setChecked(m_matrices.isPlaying());
    play->setText(m_matrices.isPlaying() ? QStringLiteral("⏸") : QStringLiteral("▶"));
    if (m_matrices.isPlaying() != m_player->isActive()) {
        m_matrices.isPlaying() ? m_player->start() : m_player->stop();
    }
    scrubber->setMaximum(static_cast<int>(m_matrices.newest()));
    scrubber->setValue(static_cast<int>(m_matrices.frame()));
    const auto step = m_matrices.step();
    stepLabel->setText(step ? tr("step %1").arg(QString::fromStdString(groupedText(*step))) + rightShare() : QString());
    for (QWidget* control :
         std::initializer_list<QWidget*>{kind, port, feature, value, distance, pin, play, scrubber}) {
        control->setEnabled(step.has_value());
    }
    distance->setEnabled(step && m_matrices.series().isOfShortcuts());
    if (m_matrices.of() == ShownMatrices::Of::Outputs) { // they have no weights to compare
        for (QWidget* control : std::initializer_list<QWidget*>{kind, value, distance, pin}) {
            control->hide();
        }
    }
}

/// Returns the share of the shown step's examples whose class was predicted, as " · 87.5 % right".
QString HeatmapControls::rightShare() const
{
    if (!m_matrices.any() || m_matrices.kind() != engine::matrix::kConfusion) {
        return {};
    }
    const engine::Matrix& counts = m_matrices.frames().frame(m_matrices.series(), m_matrices.frame());
    double right = 0;
    double all = 0;
    for (std::int64_t row = 0; row < counts.rows; ++row) {
        for (std::int64_t column = 0; column < counts.columns; ++column) {
            const double count = counts.at(row, column);
            all += std::isnan(count) ? 0 : count;
            right += std::isnan(count) || row != column ? 0 : count;
        }
    }
    return all > 0 ? tr(" · %1 % right").arg(QString::fromStdString(numberText(100 * right / all, 4))) : QString();
}

} // namespace residua::visualizers
