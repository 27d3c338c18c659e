// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/schedule/schedule_page.h"

#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/schedule/ribbon_scene.h"
#include "app/schedule/schedule_ribbon.h"
#include "projects/depth/depth_names.h"
#include "projects/library/schedule_presets.h"
#include "projects/schedule/kept_parts.h"
#include "projects/studies/sweep_grid.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace residua::app {

namespace {

constexpr int kNarrowest = 200; ///< otherwise its rows would keep a narrow window wide
constexpr int kNarrowField = 44;

QLineEdit* field(const QString& name, const QString& toolTip, int widest, QWidget* parent)
{
    auto* edit = new QLineEdit(parent);
    edit->setAccessibleName(name);
    edit->setToolTip(toolTip);
    edit->setFont(numberFont());
    edit->setMinimumWidth(kNarrowField);
    edit->setMaximumWidth(widest);
    showsCommitted(*edit);
    return edit;
}

QLabel* caption(const QString& text, QWidget* of, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setProperty("role", QStringLiteral("muted"));
    label->setBuddy(of);
    return label;
}

QHBoxLayout* rowIn(QWidget* widget)
{
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(10, 2, 10, 2);
    row->setSpacing(6);
    return row;
}

QString percentText(double share)
{
    return QString::number(100 * share, 'f', 1);
}

} // namespace

std::optional<std::vector<std::int64_t>> layersFrom(const projects::Stack& stack, const QString& text)
{
    std::vector<std::int64_t> layers;
    for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        const QStringList numbers = part.trimmed().split(QLatin1Char('@'));
        bool ok = false;
        bool okVisit = true;
        const qlonglong layer = numbers.front().toLongLong(&ok);
        const qlonglong visit = numbers.size() > 1 ? numbers.back().toLongLong(&okVisit) : 0;
        const std::vector<std::int64_t> visits = stack.visitsOf(layer);
        if (!ok || !okVisit || numbers.size() > 2 || visit < 0 || (visit > 0 && visit > std::ssize(visits))) {
            return std::nullopt;
        }
        if (visit > 0) {
            layers.push_back(visits[static_cast<std::size_t>(visit - 1)]);
        } else if (stack.loopOf(layer) != nullptr) { // a stored layer without a visit means all of its visits
            layers.insert(layers.end(), visits.begin(), visits.end());
        } else {
            layers.push_back(stack.numberOf({layer, 1}));
        }
    }
    std::ranges::sort(layers);
    const auto twins = std::ranges::unique(layers);
    layers.erase(twins.begin(), twins.end());
    return layers;
}

SchedulePage::SchedulePage(const Look& look, QWidget* parent)
    : QWidget(parent), m_ribbon(new ScheduleRibbon(look, this)), m_summary(new QLabel(this))
{
    QWidget* const presetRow = makePresetRow();
    m_empty = makeEmpty();
    m_stageRow = makeStageRow();
    m_generatorRow = makeGeneratorRow();
    setObjectName(QStringLiteral("schedulePage"));
    setAttribute(Qt::WA_StyledBackground);
    setMinimumWidth(kNarrowest);
    setFocusProxy(m_ribbon);
    m_summary->setObjectName(QStringLiteral("scheduleSummary"));
    m_summary->setContentsMargins(10, 6, 10, 0);
    m_summary->setWordWrap(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 4);
    column->setSpacing(2);
    column->addWidget(m_summary);
    column->addWidget(presetRow);
    column->addWidget(m_ribbon, 1);
    column->addWidget(m_empty);
    column->addWidget(m_stageRow);
    column->addWidget(m_generatorRow);
    connect(m_ribbon, &ScheduleRibbon::edited, this, &SchedulePage::edited);
    connect(m_ribbon, &ScheduleRibbon::previewed, this, &SchedulePage::workOutCosts);
    connect(m_ribbon, &ScheduleRibbon::previewed, this, &SchedulePage::showSummary);
    connect(m_ribbon, &ScheduleRibbon::previewed, this, &SchedulePage::showStage);
    connect(m_ribbon, &ScheduleRibbon::chosenChanged, this, &SchedulePage::showStage);
}

QWidget* SchedulePage::makePresetRow()
{
    auto* widget = new QWidget(this);
    m_preset = new QComboBox(widget);
    m_preset->setObjectName(QStringLiteral("schedulePreset"));
    m_preset->setAccessibleName(tr("Published schedules"));
    m_preset->setMinimumWidth(kNarrowField);
    m_preset->addItem(tr("Choose a published schedule"));
    for (const projects::SchedulePreset& preset : projects::schedulePresets()) {
        m_preset->addItem(QString::fromStdString(preset.title));
        const QString source = QString::fromStdString(preset.source);
        m_preset->setItemData(m_preset->count() - 1,
                              QString::fromStdString(preset.summary) +
                                  (source.isEmpty() ? QString() : QStringLiteral("\n") + source),
                              Qt::ToolTipRole);
    }
    auto* row = rowIn(widget);
    row->addWidget(caption(tr("Method"), m_preset, widget));
    row->addWidget(m_preset, 1);
    row->addWidget(makeUnitField());
    row->addStretch(1);
    connect(m_preset, &QComboBox::activated, this, &SchedulePage::usePreset);
    return widget;
}

/// A loop's layers are left out one by one, or by whole visits.
QWidget* SchedulePage::makeUnitField()
{
    m_unitField = new QWidget(this);
    m_unit = new QComboBox(m_unitField);
    m_unit->setObjectName(QStringLiteral("stageUnit"));
    m_unit->setAccessibleName(tr("What is left out together"));
    m_unit->setToolTip(tr("Whole visits of a loop: at least one is kept, and layers outside loops always train"));
    m_unit->addItems({tr("layers"), tr("whole visits")}); // as DropUnit
    m_unit->setMinimumWidth(kNarrowField);
    auto* row = rowIn(m_unitField);
    row->setContentsMargins({});
    row->addWidget(caption(tr("leaves out"), m_unit, m_unitField));
    row->addWidget(m_unit, 1);
    connect(m_unit, &QComboBox::activated, this, [this](int index) {
        projects::StageSchedule schedule = m_project->stack().schedule;
        schedule.unit = static_cast<projects::DropUnit>(index);
        take(schedule);
    });
    return m_unitField;
}

QWidget* SchedulePage::makeEmpty()
{
    auto* empty = new QWidget(this);
    auto* text = new QLabel(tr("Every layer trains at every step. With stages, training begins with a part of the "
                               "depth, drawn anew at each step, and grows to all of it (RaPTr)."),
                            empty);
    text->setProperty("role", QStringLiteral("muted"));
    text->setWordWrap(true);
    auto* add = new QPushButton(tr("Add stages"), empty);
    add->setObjectName(QStringLiteral("addStages"));
    auto* row = rowIn(empty);
    row->addWidget(text, 1);
    row->addWidget(add);
    connect(add, &QPushButton::clicked, this, &SchedulePage::addStages);
    return empty;
}

QWidget* SchedulePage::makeStageRow()
{
    auto* widget = new QWidget(this);
    m_stageTitle = new QLabel(widget);
    m_start = field(tr("Start of the stage"), tr("The step from which on the stage trains"), 110, widget);
    m_start->setObjectName(QStringLiteral("stageStart"));
    m_length = field(tr("Average length of the stage"), tr("Layers that a step trains on average"), 70, widget);
    m_length->setObjectName(QStringLiteral("stageLength"));
    m_always = field(tr("Always-kept layers"), tr("Layers that no step leaves out, such as 1, 12"), 160, widget);
    m_always->setObjectName(QStringLiteral("stageAlways"));
    auto* row = rowIn(widget);
    row->addWidget(m_stageTitle);
    row->addWidget(caption(tr("from step"), m_start, widget));
    row->addWidget(m_start, 2);
    row->addWidget(caption(tr("layers"), m_length, widget));
    row->addWidget(m_length, 1);
    row->addWidget(caption(tr("always"), m_always, widget));
    row->addWidget(m_always, 2);
    m_stageCost = new QLabel(widget);
    m_stageCost->setObjectName(QStringLiteral("stageCost"));
    m_stageCost->setProperty("role", QStringLiteral("muted"));
    row->addWidget(m_stageCost);
    row->addStretch(1);
    connect(m_start, &QLineEdit::editingFinished, this, &SchedulePage::setStart);
    connect(m_length, &QLineEdit::editingFinished, this, &SchedulePage::setLength);
    connect(m_always, &QLineEdit::editingFinished, this, &SchedulePage::setAlways);
    return widget;
}

QWidget* SchedulePage::makeGeneratorRow()
{
    auto* widget = new QWidget(this);
    m_lengths = field(tr("Lengths of the stages"), tr("Average lengths, such as 6-8-10-12"), 150, widget);
    m_lengths->setObjectName(QStringLiteral("stageLengths"));
    m_split = new QComboBox(widget);
    m_split->setObjectName(QStringLiteral("stageSplit"));
    m_split->setAccessibleName(tr("How the steps are divided"));
    m_split->addItems({tr("equal"), tr("proportional"), tr("target average")});
    m_split->setMinimumWidth(kNarrowField);
    m_target = field(tr("Target average length"), tr("Layers on average over all of training"), 70, widget);
    m_target->setObjectName(QStringLiteral("stageTarget"));
    m_target->setPlaceholderText(tr("layers"));
    auto* make = new QPushButton(tr("Make"), widget);
    make->setObjectName(QStringLiteral("makeStages"));
    auto* none = new QPushButton(tr("Clear"), widget);
    make->setToolTip(tr("Divide the training into stages of these lengths"));
    none->setToolTip(tr("Every layer at every step again"));
    auto* row = rowIn(widget);
    row->addWidget(caption(tr("Generate"), m_lengths, widget));
    row->addWidget(m_lengths, 3);
    row->addWidget(m_split);
    row->addWidget(m_target, 1);
    row->addWidget(make);
    row->addStretch(1);
    row->addWidget(none);
    const auto showTarget = [this] {
        m_target->setVisible(m_split->currentIndex() == static_cast<int>(projects::StageSplit::TargetAverage));
    };
    connect(m_split, &QComboBox::currentIndexChanged, this, showTarget);
    connect(make, &QPushButton::clicked, this, &SchedulePage::generate);
    connect(m_lengths, &QLineEdit::returnPressed, this, &SchedulePage::generate);
    connect(m_target, &QLineEdit::returnPressed, this, &SchedulePage::generate);
    connect(none, &QPushButton::clicked, this, [this] { take(projects::StageSchedule()); });
    showTarget();
    return widget;
}

/// Hides the page while the schedule still exists, so that a field with the focus can commit its value.
SchedulePage::~SchedulePage()
{
    hide();
}

void SchedulePage::setProject(projects::ProjectSnapshot project, const std::optional<projects::CostReport>& cost)
{
    m_project = std::move(project);
    m_cost = cost;
    m_stale = true;
    if (isVisible()) {
        showProject();
    }
}

void SchedulePage::clearInput()
{
    m_lengths->clear(); // shows the schedule's own again
    m_target->clear();
    m_split->setCurrentIndex(0);
}

void SchedulePage::showEvent(QShowEvent* event)
{
    if (m_stale) {
        showProject();
    }
    QWidget::showEvent(event);
}

void SchedulePage::showProject()
{
    const projects::StageSchedule& schedule = m_project->stack().schedule;
    const bool other = !m_shown || schedule != m_shown->stack().schedule || m_lengths->text().isEmpty();
    if (m_shown != m_project) {
        m_previewed = *m_project;
    }
    m_shown = m_project;
    m_stale = false;
    const bool staged = schedule.course == projects::DropCourse::Stages && !schedule.stages.empty();
    m_empty->setVisible(projects::trainsAll(schedule));
    m_stageRow->setVisible(staged);
    m_generatorRow->setVisible(staged);
    if (other) {
        showValue(*m_lengths, QString::fromStdString(projects::stageLengthsText(schedule)));
    }
    const bool loops = !m_project->stack().loops.empty() || projects::leavesOutVisits(schedule);
    m_unitField->setVisible(staged && loops && projects::leavesOutLayers(schedule.axis));
    m_unit->setCurrentIndex(static_cast<int>(schedule.unit));
    m_ribbon->setPlan(m_project->stack(), m_project->training);
    showPreset();
}

/// Shows the preset whose rules the schedule follows, independent of its stages.
void SchedulePage::showPreset()
{
    projects::StageSchedule rules = m_project->stack().schedule;
    const auto presets = projects::schedulePresets();
    const auto follows = [&](const projects::SchedulePreset& preset) {
        rules.stages = preset.rules.stages;
        rules.fullModelSteps = 0;
        rules.unit = preset.rules.unit;
        rules.growthWarmup = m_project->stack().schedule.growthWarmup > 0 ? 1 : 0;
        rules.curveFloor = preset.rules.curveFloor;
        return rules == preset.rules &&
               m_project->stack().schedule.stages.empty() == projects::scheduleOf(preset, 12, 100).stages.empty();
    };
    const auto found = std::ranges::find_if(presets, follows);
    m_preset->setCurrentIndex(found == presets.end() ? 0 : static_cast<int>(found - presets.begin()) + 1);
}

void SchedulePage::usePreset(int index)
{
    if (index > 0) {
        const projects::SchedulePreset& preset = projects::schedulePresets()[static_cast<std::size_t>(index - 1)];
        take(projects::scheduleOf(preset, m_project->network.depth(), m_project->training.steps));
    }
    showPreset();
}

/// Computes the costs of the schedule that the ribbon shows, also during a drag.
void SchedulePage::workOutCosts()
{
    m_previewed.stack().schedule = m_ribbon->shown();
    m_spanCosts = m_cost ? projects::costsOfSpans(m_previewed, *m_cost) : std::vector<projects::SpanCost>();
    m_ribbon->setCosts(m_spanCosts);
}

void SchedulePage::showSummary()
{
    const projects::Project& shown = m_previewed;
    const std::int64_t depth = shown.network.depth();
    QStringList parts;
    if (projects::trainsAll(shown.stack().schedule)) {
        parts << tr("No stages: %n layers at every step", nullptr, static_cast<int>(depth));
    } else if (shown.stack().schedule.course == projects::DropCourse::Curve) {
        parts << tr("By a curve: average %1 of %2 layers")
                     .arg(QString::number(projects::averageLength(shown.stack().schedule, depth, shown.training.steps),
                                          'f', 2))
                     .arg(depth);
    } else {
        const double length = projects::averageLength(shown.stack().schedule, depth, shown.training.steps);
        parts << tr("%n stages", nullptr, static_cast<int>(shown.stack().schedule.stages.size()))
              << (projects::leavesOutLayers(shown.stack().schedule.axis)
                      ? tr("average %1 of %2 layers").arg(QString::number(length, 'f', 2)).arg(depth)
                      : tr("average %1")
                            .arg(QString::fromStdString(projects::nameOf(
                                shown.stack().schedule, {.stage = 0, .averageLength = length}, depth))));
    }
    if (m_cost && projects::trainsAll(shown.stack().schedule)) {
        parts << tr("%1 FLOP in all").arg(formatCount(projects::trainingFlops(shown, m_cost->total)));
    } else if (m_cost) {
        const double share = projects::expectedFlopShare(shown, *m_cost);
        parts << tr("expected %1 FLOP").arg(formatCount(share * projects::trainingFlops(shown, m_cost->total)))
              << tr("%1 % saved").arg(percentText(1 - share));
        const auto most = std::ranges::max_element(m_spanCosts, {}, &projects::SpanCost::peakActivationBytes);
        if (most != m_spanCosts.end()) {
            const double peak = most->peakActivationBytes;
            parts << tr("at most %1 of memory").arg(memoryText(*m_cost, {1, peak, peak}));
        }
    }
    m_summary->setText(parts.join(QStringLiteral("  ·  ")));
}

void SchedulePage::showStage()
{
    const auto chosen = m_ribbon->chosen();
    if (!chosen) {
        return;
    }
    const projects::Stage& stage = m_ribbon->shown().stages.at(*chosen);
    QStringList always;
    for (const std::int64_t layer : stage.always) {
        always << QString::fromStdString(projects::layerName(m_project->stack(), layer));
    }
    m_stageTitle->setText(tr("Stage %1").arg(*chosen + 1));
    showValue(*m_start, QString::number(stage.start));
    showValue(*m_length, formatReal(stage.averageLength));
    showValue(*m_always, always.join(QStringLiteral(", ")));
    m_stageCost->clear();
    const auto spans = projects::spansOf(m_ribbon->shown(), m_project->network.depth(), m_project->training.steps);
    for (std::size_t i = 0; i < std::min(spans.size(), m_spanCosts.size()); ++i) {
        if (m_cost && spans[i].stage == *chosen) {
            const double share = m_spanCosts[i].flopShare;
            m_stageCost->setText(
                tr("%1 % of a full step, saves %2 %\nmemory %3")
                    .arg(percentText(share), percentText(1 - share), memoryText(*m_cost, m_spanCosts[i])));
            m_stageCost->setToolTip(
                tr("Expected FLOP and memory of its steps; weights, gradients and moments are those "
                   "of the whole network"));
        }
    }
}

void SchedulePage::setStart()
{
    m_start->setModified(false);
    bool ok = false;
    const qlonglong start = QLocale::c().toLongLong(m_start->text().trimmed(), &ok);
    const auto chosen = m_ribbon->chosen();
    if (ok && chosen) {
        take(projects::withStart(m_project->stack().schedule, *chosen, start, m_project->training.steps));
    }
    showStage();
}

void SchedulePage::setLength()
{
    m_length->setModified(false);
    bool ok = false;
    const double length = QLocale::c().toDouble(m_length->text().trimmed(), &ok);
    const auto chosen = m_ribbon->chosen();
    if (ok && chosen) {
        take(projects::withLength(m_project->stack().schedule, *chosen, length, m_project->network.depth()));
    }
    showStage();
}

void SchedulePage::setAlways()
{
    m_always->setModified(false);
    const auto layers = layersFrom(m_project->stack(), m_always->text());
    const auto chosen = m_ribbon->chosen();
    // The chosen stage may have been removed by an edit.
    if (layers && chosen && *chosen < m_project->stack().schedule.stages.size()) {
        projects::StageSchedule schedule = m_project->stack().schedule;
        schedule.stages[*chosen].always = *layers;
        take(schedule);
    }
    showStage();
}

void SchedulePage::generate()
{
    const auto lengths =
        projects::stageLengthsFrom(m_lengths->text().simplified().remove(QLatin1Char(' ')).toStdString());
    if (!lengths) {
        emit refused(QString::fromStdString(lengths.error().text()));
        return;
    }
    m_lengths->setModified(false);
    const projects::StageSchedule& schedule = m_project->stack().schedule;
    const bool ends = schedule.stages.empty() || !schedule.stages.front().always.empty();
    take(projects::makeStages(schedule, *lengths, static_cast<projects::StageSplit>(m_split->currentIndex()),
                              m_project->network.depth(), m_project->training.steps,
                              QLocale::c().toDouble(m_target->text().trimmed()),
                              ends ? projects::StageEnds::Kept : projects::StageEnds::AsOthers));
}

void SchedulePage::addStages()
{
    const std::int64_t depth = m_project->network.depth();
    take(projects::makeStages(m_project->stack().schedule, projects::recommendedLengths(depth),
                              projects::StageSplit::Equal, depth, m_project->training.steps));
    m_ribbon->setFocus();
}

void SchedulePage::take(const Result<projects::StageSchedule>& schedule)
{
    if (!schedule) {
        emit refused(QString::fromStdString(schedule.error().text()));
    } else if (*schedule != m_project->stack().schedule) {
        emit edited(*schedule);
    }
}

} // namespace residua::app
