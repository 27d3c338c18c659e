// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/go_on_dialog.h"

#include "app/look/format.h"
#include "engine/results/run_reader.h"
#include "projects/cost/cost.h"
#include "projects/model/topology.h"
#include "projects/studies/sweep_grid.h"
#include "projects/transfer/retrofit.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace residua::app {

namespace {

constexpr int kWidth = 460;

QString titleOf(GoOnKind kind)
{
    return kind == GoOnKind::Resume ? GoOnDialog::tr("Resume a run")
           : kind == GoOnKind::Fork ? GoOnDialog::tr("Fork a run")
                                    : GoOnDialog::tr("Retrofit a run");
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
        break;
    }
    return GoOnDialog::tr("A copy of %1 goes on with its depth wired otherwise. It computes the same at first: weights "
                          "that stay keep their values and the optimiser's state of them.")
        .arg(run);
}

QString goText(GoOnKind kind)
{
    return kind == GoOnKind::Resume ? GoOnDialog::tr("Resume")
           : kind == GoOnKind::Fork ? GoOnDialog::tr("Fork and train")
                                    : GoOnDialog::tr("Retrofit and train");
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
    GoOnSource source{std::move(*info), std::move(*project), reader->checkpoints()};
    if (source.checkpoints.empty()) {
        return Error{runDirectory, "has no checkpoint yet to go on from"};
    }
    return source;
}

GoOnDialog::GoOnDialog(GoOnKind kind, GoOnSource source, projects::Topology wired, QWidget* parent)
    : QDialog(parent),
      m_kind(kind),
      m_source(std::move(source)),
      m_step(new QComboBox(this)),
      m_steps(new QSpinBox(this)),
      m_topology(new QComboBox(this)),
      m_cost(new QLabel(this)),
      m_otherData(new QCheckBox(tr("Go on though the data are not those it was trained on"), this)),
      m_reason(new QLabel(this))
{
    setObjectName(QStringLiteral("goOnDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(titleOf(kind));
    setMinimumWidth(kWidth);
    auto* explanation = new QLabel(explanationOf(kind, QString::fromStdString(m_source.info.name)), this);
    explanation->setWordWrap(true);
    explanation->setProperty("role", QStringLiteral("muted"));
    m_step->setObjectName(QStringLiteral("goOnStep"));
    m_steps->setObjectName(QStringLiteral("goOnSteps"));
    m_topology->setObjectName(QStringLiteral("goOnTopology"));
    m_cost->setProperty("role", QStringLiteral("muted"));
    m_cost->setWordWrap(true);
    m_reason->setObjectName(QStringLiteral("goOnReason"));
    m_reason->setProperty("role", QStringLiteral("error"));
    m_reason->setWordWrap(true);
    m_reason->hide();
    auto* form = new QFormLayout;
    form->addRow(tr("From checkpoint"), m_step);
    form->addRow(tr("Steps in all"), m_steps);
    if (kind == GoOnKind::Retrofit) {
        form->addRow(tr("Topology"), m_topology);
        form->addRow(QString(), m_cost);
    }
    m_topology->setVisible(kind == GoOnKind::Retrofit);
    m_cost->setVisible(kind == GoOnKind::Retrofit);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
    m_go = buttons->addButton(goText(kind), QDialogButtonBox::AcceptRole);
    m_go->setObjectName(QStringLiteral("goOn"));
    m_go->setDefault(true);
    auto* column = new QVBoxLayout(this);
    column->addWidget(explanation);
    column->addLayout(form);
    column->addWidget(m_otherData);
    column->addWidget(m_reason);
    column->addStretch();
    column->addWidget(buttons);
    connect(m_go, &QPushButton::clicked, this, &GoOnDialog::choose);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    fillCheckpoints();
    fillTopologies(wired);
    connectFields();
    update();
}

void GoOnDialog::fillCheckpoints()
{
    for (auto step = m_source.checkpoints.rbegin(); step != m_source.checkpoints.rend(); ++step) {
        const QString words = tr("step %1").arg(formatWhole(*step));
        m_step->addItem(step == m_source.checkpoints.rbegin() ? tr("%1, the last").arg(words) : words,
                        QVariant::fromValue<qlonglong>(*step));
    }
    m_steps->setRange(1, std::numeric_limits<int>::max());
    m_steps->setGroupSeparatorShown(true);
    const std::int64_t planned = m_source.info.steps;
    // All planned steps done: as many again.
    m_steps->setValue(static_cast<int>(
        std::min<std::int64_t>(planned > step() ? planned : step() + planned, std::numeric_limits<int>::max())));
}

void GoOnDialog::fillTopologies(const projects::Topology& wired)
{
    m_topology->setEditable(true);
    m_topology->setInsertPolicy(QComboBox::NoInsert);
    m_topology->setToolTip(tr("A preset, or shortcuts of weight 1 such as 0:2+1:3 or i:i+2"));
    const auto presets = projects::topologyPresets(m_source.project.network);
    if (wired.wiring != m_source.project.topology.wiring) {
        const auto named = std::ranges::find(presets, wired.preset, &projects::TopologyPreset::name);
        const bool custom = named == presets.end() || named->wiring != wired.wiring;
        m_topology->addItem(custom ? tr("As the project is wired now")
                                   : tr("%1, as the project is wired now").arg(QString::fromStdString(named->title)));
        m_topologies.push_back(wired);
    }
    for (const projects::TopologyPreset& preset : presets) {
        m_topology->addItem(QString::fromStdString(preset.title));
        m_topologies.push_back({preset.name, preset.wiring});
    }
    m_topology->setCurrentIndex(0);
}

void GoOnDialog::connectFields()
{
    connect(m_step, &QComboBox::currentIndexChanged, this, &GoOnDialog::update);
    connect(m_steps, &QSpinBox::valueChanged, this, &GoOnDialog::update);
    connect(m_topology, &QComboBox::currentTextChanged, this, &GoOnDialog::update);
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

QString GoOnDialog::costText(const projects::Topology& topology) const
{
    const auto wired = projects::rewired(m_source.project, topology);
    const auto before = projects::costOf(m_source.project);
    const auto after = wired ? projects::costOf(*wired) : Result<projects::CostReport>(wired.error());
    if (!before || !after) {
        return {};
    }
    const auto added = static_cast<double>(after->total.parameters - before->total.parameters);
    const QString flop = formatChange(after->total.trainFlops - before->total.trainFlops, formatCount);
    return tr("%1 parameters, %2 training FLOP a %3")
        .arg(formatChange(added, formatCount), flop, isLanguage(m_source.project.data) ? tr("token") : tr("sample"));
}

/// What can be told before it is tried.
void GoOnDialog::update()
{
    QString reason;
    if (m_steps->value() <= step()) {
        reason = tr("The checkpoint is of step %1: more steps in all are needed to go on.").arg(formatWhole(step()));
    }
    if (m_kind == GoOnKind::Retrofit) {
        const auto chosen = topology();
        const auto wired =
            chosen ? projects::rewired(m_source.project, *chosen) : Result<projects::Project>(chosen.error());
        m_cost->setText(wired ? costText(*chosen) : QString());
        if (reason.isEmpty() && !wired) {
            reason = wordsOf(wired.error());
        }
    }
    m_go->setEnabled(reason.isEmpty());
    m_reason->setText(reason);
    m_reason->setVisible(!reason.isEmpty());
}

void GoOnDialog::refuse(const QString& reason)
{
    m_go->setText(goText(m_kind));
    m_go->setEnabled(true);
    m_reason->setText(reason);
    m_reason->show();
}

void GoOnDialog::choose()
{
    GoOnRequest request{m_kind,
                        m_source.info.directory,
                        step(),
                        m_steps->value(),
                        m_otherData->isChecked() ? engine::OtherData::Accept : engine::OtherData::Refuse,
                        {}};
    if (m_kind == GoOnKind::Retrofit) {
        const auto chosen = topology();
        if (!chosen) {
            refuse(wordsOf(chosen.error()));
            return;
        }
        request.topology = *chosen;
        m_go->setText(tr("Comparing outputs…"));
    }
    m_reason->hide();
    m_go->setEnabled(false); // until it is carried out or refused
    emit chosen(request);
}

} // namespace residua::app
