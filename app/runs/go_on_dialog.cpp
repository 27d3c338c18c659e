// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/go_on_dialog.h"

#include "app/look/format.h"
#include "app/properties/property.h"
#include "app/runs/settings_list.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/cost/cost.h"
#include "projects/model/topology.h"
#include "projects/schema/fields.h"
#include "projects/schema/method_keys.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/retrofit.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWidth = 460;
constexpr int kShareDecimals = 3;
constexpr double kShareStep = 0.05;

QString titleOf(GoOnKind kind)
{
    switch (kind) {
    case GoOnKind::Resume:
        return GoOnDialog::tr("Resume a run");
    case GoOnKind::Fork:
        return GoOnDialog::tr("Fork a run");
    case GoOnKind::Retrofit:
        return GoOnDialog::tr("Retrofit a run");
    case GoOnKind::Factorise:
        break;
    }
    return GoOnDialog::tr("Factorise a run");
}

QString explanationOf(GoOnKind kind, const QString& run)
{
    switch (kind) {
    case GoOnKind::Resume:
        return GoOnDialog::tr("%1 goes on from one of its checkpoints; what it recorded beyond that is dropped.")
            .arg(run);
    case GoOnKind::Fork:
        return GoOnDialog::tr("A copy of %1 up to a checkpoint goes on as a run of its own.").arg(run);
    case GoOnKind::Retrofit:
        return GoOnDialog::tr("A copy of %1 goes on with its depth wired otherwise. It computes the same at first: "
                              "weights that stay keep their values and the optimiser's state of them.")
            .arg(run);
    case GoOnKind::Factorise:
        break;
    }
    return GoOnDialog::tr("A copy of %1 goes on with the weights of its blocks as products of two thin matrices that "
                          "approximate what it has learned. Its loss before and after is told.")
        .arg(run);
}

QString goText(GoOnKind kind)
{
    switch (kind) {
    case GoOnKind::Resume:
        return GoOnDialog::tr("Resume");
    case GoOnKind::Fork:
        return GoOnDialog::tr("Fork and train");
    case GoOnKind::Retrofit:
        return GoOnDialog::tr("Retrofit and train");
    case GoOnKind::Factorise:
        break;
    }
    return GoOnDialog::tr("Factorise and train");
}

/// True if the engine makes the copy, which may fail, and changes the project.
bool changesProject(GoOnKind kind)
{
    return kind == GoOnKind::Retrofit || kind == GoOnKind::Factorise;
}

QString wordsOf(const Error& error)
{
    return QString::fromStdString(error.text());
}

} // namespace

Result<GoOnSource> readGoOnSource(const std::string& runDirectory)
{
    const auto reader = engine::RunReader::open(runDirectory);
    if (!reader) {
        return reader.error();
    }
    auto info = reader->info();
    auto project = reader->project();
    if (!info || !project) {
        return info ? project.error() : info.error();
    }
    GoOnSource source{std::move(*info), std::move(*project), engine::resumableSteps(runDirectory),
                      engine::distantCheckpoints(runDirectory)};
    if (source.checkpoints.empty()) {
        return Error{runDirectory, "has no checkpoint yet to go on from"};
    }
    return source;
}

void listCheckpoints(QComboBox& list, const GoOnSource& source)
{
    for (auto step = source.checkpoints.rbegin(); step != source.checkpoints.rend(); ++step) {
        QString words = GoOnDialog::tr("step %1").arg(formatWhole(*step));
        if (step == source.checkpoints.rbegin()) {
            words = GoOnDialog::tr("%1, the last").arg(words);
        }
        if (std::ranges::binary_search(source.distant.steps, *step)) {
            words = GoOnDialog::tr("%1; at %2, fetched first").arg(words, QString::fromStdString(source.distant.place));
        }
        list.addItem(words, QVariant::fromValue<qlonglong>(*step));
    }
}

GoOnDialog::GoOnDialog(GoOnKind kind, GoOnSource source, const projects::Project& open, QWidget* parent)
    : AskDialog(QStringLiteral("goOn"),
                {titleOf(kind), explanationOf(kind, QString::fromStdString(source.info.name)), goText(kind)}, kWidth,
                parent),
      m_kind(kind),
      m_source(std::move(source)),
      m_step(new QComboBox(this)),
      m_steps(new QSpinBox(this)),
      m_topology(new QComboBox(this)),
      m_rank(new QDoubleSpinBox(this)),
      m_method(new QComboBox(this)),
      m_inputs(new QComboBox(this)),
      m_settings(new SettingsList(this)),
      m_cost(new QLabel(this)),
      m_otherData(new QCheckBox(tr("Go on though the data are not those it was trained on"), this))
{
    m_step->setObjectName(QStringLiteral("goOnStep"));
    m_steps->setObjectName(QStringLiteral("goOnSteps"));
    m_topology->setObjectName(QStringLiteral("goOnTopology"));
    m_cost->setProperty("role", QStringLiteral("muted"));
    m_cost->setWordWrap(true);
    form().addRow(tr("From checkpoint"), m_step);
    form().addRow(tr("Steps in all"), m_steps);
    addRows();
    add(m_otherData);
    fillCheckpoints();
    fillTopologies(open.stack().topology);
    fillFactors();
    fillSettings(open);
    connectFields();
    update();
}

void GoOnDialog::addRows()
{
    const bool retrofits = m_kind == GoOnKind::Retrofit;
    const bool factorises = m_kind == GoOnKind::Factorise;
    if (retrofits) {
        form().addRow(tr("Topology"), m_topology);
    }
    if (factorises) {
        form().addRow(tr("Rank scale"), m_rank);
        form().addRow(tr("Method"), m_method);
        form().addRow(tr("Fitted to"), m_inputs);
    }
    if (changesProject(m_kind)) {
        form().addRow(QString(), m_cost);
    }
    if (m_kind == GoOnKind::Fork) {
        form().addRow(tr("With the project's"), m_settings);
    }
    m_settings->setVisible(m_kind == GoOnKind::Fork);
    m_topology->setVisible(retrofits);
    for (QWidget* field : std::initializer_list<QWidget*>{m_rank, m_method, m_inputs}) {
        field->setVisible(factorises);
    }
    m_cost->setVisible(changesProject(m_kind));
}

void GoOnDialog::fillFactors()
{
    m_rank->setObjectName(QStringLiteral("goOnRank"));
    const projects::Range shares = projects::fieldOfSchema("/network/rank/scale").value().field.more.range;
    m_rank->setDecimals(kShareDecimals);
    m_rank->setRange(shares.least + std::pow(10.0, -kShareDecimals), shares.most); // the lower end is open
    m_rank->setSingleStep(kShareStep);
    m_rank->setValue(GoOnRequest{}.rankShare);
    m_rank->setToolTip(tr("The rank of each weight as a share of its smaller side"));
    m_method->setObjectName(QStringLiteral("goOnMethod"));
    for (const projects::LowRankTraits& traits : projects::kLowRankMethods) {
        if (traits.approximates) {
            m_method->addItem(QString::fromStdString(projects::titleOf(traits.method)),
                              static_cast<int>(traits.method));
        }
    }
    m_method->setCurrentIndex(m_method->findData(static_cast<int>(GoOnRequest{}.method)));
    m_inputs->setObjectName(QStringLiteral("goOnInputs"));
    const auto inputs = projects::fieldOfSchema("/initialisation/low_rank_inputs");
    for (const projects::Choice& choice : inputs.value().choices) {
        m_inputs->addItem(schemaLine(choice.title), m_inputs->count());
    }
    m_inputs->setCurrentIndex(static_cast<int>(GoOnRequest{}.inputs));
}

/// The number of steps has a field of its own.
void GoOnDialog::fillSettings(const projects::Project& open)
{
    if (m_kind != GoOnKind::Fork) {
        return;
    }
    auto settings = projects::settingsThatDiffer({m_source.project, {}}, open);
    std::erase_if(settings, [](const projects::SettingChange& setting) {
        return !projects::canChangeInRun(setting.pointer) || setting.pointer == "/training/steps";
    });
    m_settings->setTitles(tr("the run has"), tr("the project has"));
    m_settings->setInvitation(tr("To go on with another learning rate, or with any other setting of training and "
                                 "schedule, change it in the project first."));
    m_settings->setSettings(std::move(settings), Qt::Unchecked);
}

std::optional<projects::Project> GoOnDialog::forked() const
{
    const auto chosen = m_settings->chosen();
    projects::Document document{m_source.project, {}};
    if (chosen.empty() || !applyEdit(document, projects::editOf({}, chosen))) {
        return std::nullopt;
    }
    return std::move(document.project);
}

void GoOnDialog::fillCheckpoints()
{
    if (m_kind == GoOnKind::Resume) {
        m_source.distant.steps.clear(); // it is resumed at its place
    }
    listCheckpoints(*m_step, m_source);
    m_steps->setRange(1, std::numeric_limits<int>::max());
    m_steps->setGroupSeparatorShown(true);
    const std::int64_t planned = m_source.info.steps;
    // If all planned steps are done, proposes the same number again.
    m_steps->setValue(static_cast<int>(
        std::min<std::int64_t>(planned > step() ? planned : step() + planned, std::numeric_limits<int>::max())));
}

void GoOnDialog::fillTopologies(const projects::Topology& wired)
{
    m_topology->setEditable(true);
    m_topology->setInsertPolicy(QComboBox::NoInsert);
    m_topology->setToolTip(tr("A preset, or shortcuts of weight 1 such as 0:2+1:3 or i:i+2"));
    const auto presets = projects::topologyPresets(m_source.project.network);
    if (wired.wiring != m_source.project.stack().topology.wiring) {
        const auto named = std::ranges::find(presets, wired.preset, &projects::TopologyPreset::name);
        const bool custom = named == presets.end() || named->wiring != wired.wiring;
        m_topology->addItem(custom ? tr("As the project is wired now")
                                   : tr("%1, as the project is wired now").arg(QString::fromStdString(named->title)));
        m_topologies.push_back(wired);
    }
    for (const projects::TopologyPreset& preset : presets) {
        if (preset.wiring != m_source.project.stack().topology.wiring) {
            m_topology->addItem(QString::fromStdString(preset.title));
            m_topologies.push_back({preset.name, preset.wiring});
        }
    }
    // The project's current topology, else the first that may compute the same function.
    const auto likely = std::ranges::find_if(m_topologies, [&](const projects::Topology& offered) {
        return offered.wiring == wired.wiring ||
               projects::startsAsPlain(offered.wiring, m_source.project.network.depth());
    });
    m_topology->setCurrentIndex(
        likely == m_topologies.end() ? 0 : static_cast<int>(std::distance(m_topologies.begin(), likely)));
}

void GoOnDialog::connectFields()
{
    connect(m_step, &QComboBox::currentIndexChanged, this, &GoOnDialog::update);
    connect(m_steps, &QSpinBox::valueChanged, this, &GoOnDialog::update);
    connect(m_topology, &QComboBox::currentTextChanged, this, &GoOnDialog::update);
    connect(m_rank, &QDoubleSpinBox::valueChanged, this, &GoOnDialog::update);
}

std::int64_t GoOnDialog::step() const
{
    return m_step->currentData().toLongLong();
}

Result<projects::Topology> GoOnDialog::topology() const
{
    const QString text = m_topology->currentText();
    if (const int listed = m_topology->findText(text); listed >= 0) {
        return m_topologies[static_cast<std::size_t>(listed)];
    }
    return projects::topologyFrom(text.trimmed().toStdString(), m_source.project.network);
}

Result<projects::Project> GoOnDialog::changed() const
{
    projects::Project after = m_source.project;
    if (m_kind == GoOnKind::Retrofit) {
        const auto chosen = topology();
        return chosen ? projects::rewired(after, *chosen) : Result<projects::Project>(chosen.error());
    }
    if (m_kind == GoOnKind::Factorise) {
        if (!std::holds_alternative<projects::FullRank>(after.network.rank)) {
            return Error{"", tr("The run's weights are in factors already.").toStdString()};
        }
        after.network.rank = projects::RankScale{m_rank->value()};
    }
    return after;
}

QString GoOnDialog::costText(const projects::Project& wanted) const
{
    const auto before = projects::costOf(m_source.project);
    const auto after = projects::costOf(wanted);
    if (!before || !after) {
        return {};
    }
    const auto added = static_cast<double>(after->total.parameters - before->total.parameters);
    const QString flop = formatChange(after->total.trainFlops - before->total.trainFlops, formatCount);
    return (std::abs(added) == 1 ? tr("%1 parameter, %2 training FLOP a %3")
                                 : tr("%1 parameters, %2 training FLOP a %3"))
        .arg(formatChange(added, formatCount), flop, formatUnit(m_source.project.data));
}

/// Shows errors that are known in advance.
void GoOnDialog::update()
{
    QString reason;
    bool failed = false; // else the reason asks for what is still missing
    if (m_steps->value() <= step()) {
        reason = tr("The checkpoint is of step %1: more steps in all are needed to go on.").arg(formatWhole(step()));
    }
    if (changesProject(m_kind)) {
        const Result<projects::Project> after = changed();
        m_cost->setText(after ? costText(*after) : QString());
        if (reason.isEmpty() && !after) {
            reason = wordsOf(after.error());
            failed = true;
        }
        const bool retrofits = m_kind == GoOnKind::Retrofit;
        if (reason.isEmpty() && retrofits &&
            after->stack().topology.wiring == m_source.project.stack().topology.wiring) {
            reason = tr("The run is wired so already.");
        }
    }
    goButton().setEnabled(reason.isEmpty());
    failed ? tellError(reason) : tell(reason);
}

void GoOnDialog::refuse(const QString& reason)
{
    goButton().setText(goText(m_kind));
    AskDialog::refuse(reason);
}

void GoOnDialog::begin()
{
    const auto otherData = m_otherData->isChecked() ? engine::OtherData::Accept : engine::OtherData::Refuse;
    GoOnRequest request{m_kind, {m_source.info.directory, {}, otherData, step()}, m_steps->value()};
    if (m_kind == GoOnKind::Retrofit) {
        const auto chosen = topology();
        if (!chosen) {
            refuse(wordsOf(chosen.error()));
            return;
        }
        request.topology = *chosen;
        goButton().setText(tr("Comparing outputs…"));
    } else if (m_kind == GoOnKind::Factorise) {
        request.rankShare = m_rank->value();
        request.method = static_cast<projects::LowRankMethod>(m_method->currentData().toInt());
        request.inputs = static_cast<projects::LowRankInputs>(m_inputs->currentData().toInt());
        goButton().setText(tr("Fitting…"));
    }
    if (m_kind == GoOnKind::Fork) {
        request.project = forked();
    }
    setBusy(); // until the request is completed or fails
    emit chosen(request);
}

} // namespace residua::app
