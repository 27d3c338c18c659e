// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/go_on_dialog.h"

#include "app/look/format.h"
#include "app/runs/settings_list.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/run_upkeep.h"
#include "projects/cost/cost.h"
#include "projects/model/topology.h"
#include "projects/nodes/towers.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/prune.h"
#include "projects/transfer/retrofit.h"
#include "projects/transfer/ties.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWidth = 460;

/// True if the engine makes the copy, which may fail, and changes the project.
bool changesProject(GoOnKind kind)
{
    return kind == GoOnKind::Retrofit || kind == GoOnKind::Factorise;
}

/// Returns an empty request of the kind.
GoOnRequest::Asked askedBy(GoOnKind kind)
{
    return kind == GoOnKind::Retrofit    ? GoOnRequest::Asked(engine::RetrofitRequest{})
           : kind == GoOnKind::Factorise ? GoOnRequest::Asked(engine::FactoriseRequest{})
                                         : ContinueRun{};
}

QString wordsOf(const Error& error)
{
    return QString::fromStdString(error.text());
}

} // namespace

GoOnDialog::Words GoOnDialog::wordsFor(GoOnKind kind, const GoOnStart& start, const QString& run)
{
    if (kind == GoOnKind::Retrofit && !start.prune.empty()) {
        return {tr("Go on without parts of a run"),
                tr("A copy of %1 goes on without %2. All other weights keep their values and the optimiser's state of "
                   "them. Its loss before and after is told.")
                    .arg(run, QString::fromStdString(start.prune)),
                tr("Leave out and train")};
    }
    if (kind == GoOnKind::Retrofit && start.ties) {
        return {
            tr("Tie or untie layers of a run"),
            tr("A copy of %1 goes on with layers that become visits of a loop, or with visits that become layers. Its "
               "loss before and after is told.")
                .arg(run),
            tr("Tie and train")};
    }
    switch (kind) {
    case GoOnKind::Resume:
        return {tr("Resume a run"),
                tr("%1 goes on from one of its checkpoints; what it recorded beyond that is dropped.").arg(run),
                tr("Resume")};
    case GoOnKind::Fork:
        return {tr("Fork a run"), tr("A copy of %1 up to a checkpoint goes on as a run of its own.").arg(run),
                tr("Fork and train")};
    case GoOnKind::Retrofit:
        return {tr("Retrofit a run"),
                tr("A copy of %1 goes on with its depth wired otherwise. It computes the same at first: weights that "
                   "stay keep their values and the optimiser's state of them.")
                    .arg(run),
                tr("Retrofit and train")};
    case GoOnKind::Factorise:
        break;
    }
    return {tr("Factorise a run"),
            tr("A copy of %1 goes on with the weights of its blocks as products of two thin matrices that approximate "
               "what it has learned. Its loss before and after is told.")
                .arg(run),
            tr("Factorise and train")};
}

Result<GoOnSource> readGoOnSource(const std::string& runDirectory, const std::string& tower)
{
    const auto reader = RESIDUA_TRY(engine::RunReader::open(runDirectory));
    auto info = RESIDUA_TRY(reader.info());
    auto project = RESIDUA_TRY(reader.project());
    const Result<std::size_t> index = projects::chosenTower(project, tower);
    if (!index) {
        return Error{runDirectory, index.error().message};
    }
    GoOnSource source{std::move(info),
                      projects::viewOf(std::move(project), *index),
                      engine::resumableSteps(runDirectory),
                      engine::distantCheckpoints(runDirectory),
                      tower,
                      *index};
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

GoOnDialog::GoOnDialog(GoOnKind kind, GoOnSource source, const projects::Project& open, GoOnStart start,
                       QWidget* parent)
    : AskDialog(QStringLiteral("goOn"), wordsFor(kind, start, QString::fromStdString(source.info.name)), kWidth,
                parent),
      m_kind(kind),
      m_source(std::move(source)),
      m_start(std::move(start)),
      m_fields(form(), QStringLiteral("goOn")),
      m_settings(new SettingsList(this)),
      m_cost(new QLabel(this))
{
    m_cost->setProperty("role", QStringLiteral("muted"));
    m_cost->setWordWrap(true);
    std::visit([this](const auto& asked) { m_fields.add(asked); }, askedBy(kind));
    m_cost->setVisible(changesProject(kind));
    if (changesProject(kind)) {
        form().addRow(QString(), m_cost);
    }
    m_settings->setVisible(kind == GoOnKind::Fork);
    if (kind == GoOnKind::Fork) {
        form().addRow(tr("With the project's"), m_settings);
    }
    add(&m_fields.editor<QCheckBox>("other-data"));
    fillCheckpoints();
    if (kind == GoOnKind::Retrofit) {
        fillRetrofit(open.stack().topology);
    }
    fillSettings(open);
    m_fields.onEdited([this] { update(); });
    update();
}

void GoOnDialog::fillRetrofit(const projects::Topology& wired)
{
    auto& measured = m_fields.editor<QCheckBox>("measured");
    const bool rewires = m_start.prune.empty() && !m_start.ties;
    measured.setChecked(m_start.measured || !rewires);
    measured.setEnabled(rewires);
    if (m_start.ties) {
        fillTies();
    } else {
        hideRow("layers");
    }
    if (rewires) {
        fillTopologies(wired);
    } else {
        hideRow("topology");
    }
}

void GoOnDialog::hideRow(const char* key)
{
    auto& editor = m_fields.editor<QWidget>(key);
    editor.hide();
    form().labelForField(&editor)->hide();
}

/// Offers to untie the loops, and to tie all layers, or all but the first and the last, in two visits.
void GoOnDialog::fillTies()
{
    auto& list = m_fields.editor<QComboBox>("layers");
    list.setToolTip(tr("The first and the last layer and the number of visits, such as 3:10,4; then stepwise, in_place "
                       "or rank=16; or untie"));
    const std::int64_t layers = m_source.project.stack().stored();
    std::vector<std::string> offers{projects::kUntie};
    for (const std::string& range : {"1:" + std::to_string(layers), "2:" + std::to_string(layers - 1)}) {
        offers.push_back(range + ",2,rank=16");
        offers.push_back(range + ",2");
    }
    for (const std::string& offer : offers) {
        if (projects::retied(m_source.project, offer)) {
            list.addItem(QString::fromStdString(offer));
        }
    }
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
    return projects::viewOf(std::move(document.project), m_source.index);
}

void GoOnDialog::fillCheckpoints()
{
    if (m_kind == GoOnKind::Resume) {
        m_source.distant.steps.clear(); // it is resumed at its place
    }
    listCheckpoints(m_fields.editor<QComboBox>("from"), m_source);
    const std::int64_t planned = m_source.info.steps;
    // If all planned steps are done, proposes the same number again.
    m_fields.editor<QSpinBox>("steps").setValue(static_cast<int>(
        std::min<std::int64_t>(planned > step() ? planned : step() + planned, std::numeric_limits<int>::max())));
}

void GoOnDialog::fillTopologies(const projects::Topology& wired)
{
    auto& list = m_fields.editor<QComboBox>("topology");
    list.setEditable(true);
    list.setInsertPolicy(QComboBox::NoInsert);
    list.setToolTip(tr("A preset, or shortcuts of weight 1 such as 0:2+1:3 or i:i+2"));
    const auto presets = projects::topologyPresets(m_source.project.network);
    if (wired.wiring != m_source.project.stack().topology.wiring) {
        const auto named = std::ranges::find(presets, wired.preset, &projects::TopologyPreset::name);
        const bool custom = named == presets.end() || named->wiring != wired.wiring;
        list.addItem(custom ? tr("As the project is wired now")
                            : tr("%1, as the project is wired now").arg(QString::fromStdString(named->title)));
        m_topologies.push_back(wired);
    }
    for (const projects::TopologyPreset& preset : presets) {
        if (preset.wiring != m_source.project.stack().topology.wiring) {
            list.addItem(QString::fromStdString(preset.title));
            m_topologies.push_back({preset.name, preset.wiring});
        }
    }
    // The project's current topology, else the first that may compute the same function.
    const auto likely = std::ranges::find_if(m_topologies, [&](const projects::Topology& offered) {
        return offered.wiring == wired.wiring ||
               projects::startsAsPlain(offered.wiring, m_source.project.network.depth());
    });
    list.setCurrentIndex(likely == m_topologies.end() ? 0
                                                      : static_cast<int>(std::distance(m_topologies.begin(), likely)));
}

GoOnRequest GoOnDialog::request() const
{
    GoOnRequest request{m_kind, askedBy(m_kind)};
    std::visit(
        [this](auto& asked) {
            m_fields.read(asked);
            if constexpr (requires { asked.tower; }) {
                asked.tower = m_source.tower;
            }
        },
        request.asked);
    request.of().runDirectory = m_source.info.directory;
    return request;
}

std::int64_t GoOnDialog::step() const
{
    return m_fields.editor<QComboBox>("from").currentData().toLongLong();
}

Result<projects::Topology> GoOnDialog::topology() const
{
    const auto& list = m_fields.editor<QComboBox>("topology");
    const QString text = list.currentText();
    if (const int listed = list.findText(text); listed >= 0) {
        return m_topologies[static_cast<std::size_t>(listed)];
    }
    return projects::topologyFrom(text.trimmed().toStdString(), m_source.project.network);
}

std::string GoOnDialog::ties() const
{
    return m_fields.editor<QComboBox>("layers").currentText().trimmed().toStdString();
}

Result<projects::Project> GoOnDialog::changed() const
{
    projects::Project after = m_source.project;
    if (m_kind == GoOnKind::Retrofit && !m_start.prune.empty()) {
        const auto parts = projects::pruningFrom(m_start.prune, after);
        auto made = parts ? projects::pruned(after, *parts) : Result<projects::PrunedProject>(parts.error());
        return made ? Result<projects::Project>(std::move(made->project)) : made.error();
    }
    if (m_kind == GoOnKind::Retrofit && m_start.ties) {
        auto made = projects::retied(after, ties());
        return made ? Result<projects::Project>(std::move(made->project)) : made.error();
    }
    if (m_kind == GoOnKind::Retrofit) {
        const auto chosen = topology();
        return chosen ? projects::rewired(after, *chosen) : Result<projects::Project>(chosen.error());
    }
    if (m_kind == GoOnKind::Factorise) {
        if (!std::holds_alternative<projects::FullRank>(after.network.rank)) {
            return Error{"", tr("The run's weights are in factors already.").toStdString()};
        }
        after.network.rank = std::get<engine::FactoriseRequest>(request().asked).rank;
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
    if (m_fields.editor<QSpinBox>("steps").value() <= step()) {
        reason = tr("The checkpoint is of step %1: more steps in all are needed to go on.").arg(formatWhole(step()));
    }
    if (changesProject(m_kind)) {
        const Result<projects::Project> after = changed();
        m_cost->setText(after ? costText(*after) : QString());
        if (reason.isEmpty() && !after) {
            reason = wordsOf(after.error());
            failed = true;
        }
        const bool retrofits = m_kind == GoOnKind::Retrofit && m_start.prune.empty() && !m_start.ties;
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
    goButton().setText(wordsFor(m_kind, m_start, {}).go);
    const QString cure = QString::fromLatin1(engine::kGoOnMeasured);
    if (!reason.endsWith(cure)) {
        AskDialog::refuse(reason);
        return;
    }
    m_fields.editor<QCheckBox>("measured").setChecked(true);
    goButton().setText(tr("Go on anyway"));
    AskDialog::refuse(reason.chopped(cure.size()) + tr(". The loss before and after is told if it goes on anyway."));
}

void GoOnDialog::begin()
{
    GoOnRequest asked = request();
    if (auto* const retrofit = std::get_if<engine::RetrofitRequest>(&asked.asked)) {
        retrofit->prune = m_start.prune;
        if (m_start.ties) {
            retrofit->ties = ties();
        } else if (m_start.prune.empty()) {
            const auto chosen = topology();
            if (!chosen) {
                refuse(wordsOf(chosen.error()));
                return;
            }
            retrofit->topology = *chosen;
        }
        goButton().setText(retrofit->measured ? tr("Measuring the loss…") : tr("Comparing outputs…"));
    } else if (auto* const run = std::get_if<ContinueRun>(&asked.asked)) {
        run->project = m_kind == GoOnKind::Fork ? forked() : std::nullopt;
    } else {
        goButton().setText(tr("Fitting…"));
    }
    setBusy(); // until the request is completed or fails
    emit chosen(asked);
}

} // namespace residua::app
