// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweeps/sweep_panel.h"

#include "app/engine/background.h"
#include "app/look/field_row.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/palette/palette_model.h"
#include "app/records/runs_model.h"
#include "app/sweeps/sweep_axis_row.h"
#include "app/sweeps/sweep_tabs.h"
#include "projects/base/ranges.h"
#include "projects/studies/sweep_grid.h"
#include "visualizers/plot/arrange.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace residua::app {

namespace {

constexpr int kSoonMilliseconds = 120;
constexpr int kRoomForBoth = 640;  ///< width in pixels from which fields and grid fit side by side
constexpr int kAmpleForBoth = 860; ///< width in pixels from which they are side by side even in a high dock
constexpr int kHigh = 340;
constexpr int kFormWidth = 300;
constexpr int kRowHeight = 26;
constexpr int kFirstSeeds = 3; ///< of a new sweep

struct Preview {
    std::vector<SweepField> fields;
    Result<std::vector<projects::SweepMember>> grid;
    std::vector<std::string> warnings; ///< of axes that change nothing
};

QToolButton* iconButton(const QString& icon, const QString& toolTip, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setIcon(themedIcon(icon));
    button->setToolTip(toolTip);
    button->setAccessibleName(toolTip);
    return button;
}

} // namespace

SweepPanel::SweepPanel(const RunsModel& runs, const PaletteModel& palette, QWidget* parent)
    : QWidget(parent), m_runs(runs), m_palette(palette)
{
    setObjectName(QStringLiteral("sweepPanel"));
    setAttribute(Qt::WA_StyledBackground);
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMilliseconds);
    connect(&m_soon, &QTimer::timeout, this, &SweepPanel::preview);
    connect(&m_runs, &RunsModel::modelReset, this, &SweepPanel::onRunsChanged);
    connect(&m_runs, &RunsModel::dataChanged, this, &SweepPanel::onRunsChanged);
    m_split->addWidget(makeForm());
    m_split->addWidget(makeGrid());
    m_split->setStretchFactor(0, 2);
    m_split->setStretchFactor(1, 3);
    m_split->setChildrenCollapsible(false);
    visualizers::makeColumn(this, visualizers::kNoMargins, {m_split});
    connect(&m_palette, &QAbstractItemModel::dataChanged, this, [this] { // prices are worked out once they are shown
        for (SweepAxisRow* row : m_rows) {
            row->showTicks();
        }
    });
}

QWidget* SweepPanel::makeForm()
{
    auto* form = new QWidget;
    m_sweeps->setEditable(true);
    m_sweeps->setInsertPolicy(QComboBox::NoInsert);
    showsCommitted(*m_sweeps->lineEdit());
    m_sweeps->setAccessibleName(tr("Sweep"));
    m_sweeps->setToolTip(tr("Which sweep is shown; type to rename it"));
    m_sweeps->setMinimumWidth(80);
    auto* create = iconButton(QStringLiteral("new"), tr("New sweep"), form);
    create->setObjectName(QStringLiteral("newSweep"));
    m_remove = iconButton(QStringLiteral("close"), tr("Remove this sweep from the project"), form);
    auto* header = visualizers::makeRow(nullptr, {{}, 4}, {{m_sweeps, 1}, create, m_remove});
    m_rowColumn = new QVBoxLayout;
    m_rowColumn->setSpacing(8);
    visualizers::makeColumn(form, {QMargins(8, 6, 8, 6), 6},
                            {header, m_rowColumn, makeAdders(form), visualizers::rest()});
    connect(m_sweeps, &QComboBox::activated, this, [this](int index) {
        // While a name is being typed the list is outdated and may be longer.
        if (const auto at = static_cast<std::size_t>(index); at < m_project->sweeps.size()) {
            m_name = m_project->sweeps[at].name;
        }
        showSweep();
    });
    connect(m_sweeps->lineEdit(), &QLineEdit::editingFinished, this, &SweepPanel::rename);
    connect(create, &QToolButton::clicked, this, [this] { createSweep({{}}); });
    connect(m_remove, &QToolButton::clicked, this, &SweepPanel::removeSweep);
    auto* scroll = new QScrollArea;
    scroll->setAccessibleName(tr("Fields of the sweep"));
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(form);
    return scroll;
}

/// Makes the buttons that vary a further field: the usual ones with their values, and any other.
QWidget* SweepPanel::makeAdders(QWidget* form)
{
    auto* adders = new QWidget(form);
    auto* line = new QHBoxLayout(adders);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(4);
    const auto add = [&](const QString& text, const char* name, const std::string& field, auto axis) {
        auto* button = new QPushButton(text, adders);
        button->setObjectName(QString::fromLatin1(name));
        line->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, axis] { addToShown(axis()); });
        m_adders.emplace_back(field, button);
        return button;
    };
    add(tr("Topologies"), "addTopologies", kTopologyField, [this] {
        return projects::SweepAxis{kTopologyField, {}, {presentTopology(*m_project)}};
    });
    add(tr("3 seeds"), "addSeeds", kSeedsField, [] { return seedAxis(kFirstSeeds); });
    add(tr("Rates"), "addRates", kPeakRateField, [this] {
        return axisOver(*m_project, kPeakRateField);
    })->setToolTip(tr("Vary the peak of the learning rate"));
    QPushButton* other = add(tr("Add a field"), "addSweepField", {}, [] { return projects::SweepAxis(); });
    connect(other, &QPushButton::clicked, this, [this] { m_rows.back()->focusField(); });
    line->addStretch();
    return adders;
}

QWidget* SweepPanel::makeGrid()
{
    auto* page = new QWidget;
    m_table = new QTableView(page);
    m_table->setModel(&m_grid);
    visualizers::setNames(*m_table, "sweepGrid", tr("Members of the sweep"));
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_total = new QLabel(page);
    m_total->setWordWrap(true);
    m_total->setObjectName(QStringLiteral("sweepTotal"));
    m_queue = new QPushButton(page);
    m_queue->setObjectName(QStringLiteral("queueSweep"));
    m_queue->setText(tr("Queue %n runs", nullptr, 0)); // until the grid is computed
    m_halve = new QCheckBox(tr("Stop losers early"), page);
    m_halve->setObjectName(QStringLiteral("halveSweep"));
    auto* buttons = visualizers::makeRow(nullptr, {}, {visualizers::rest(), m_halve, m_queue});
    auto* bottom = visualizers::makeColumn(nullptr, {QMargins(8, 2, 8, 6), -1}, {m_total, buttons});
    connect(m_halve, &QCheckBox::toggled, this, &SweepPanel::showTotal);
    visualizers::makeColumn(page, {QMargins(), 2}, {{new SweepTabs(m_grid, m_table, page), 1}, bottom});
    connect(m_queue, &QPushButton::clicked, this, &SweepPanel::queue);
    connect(&m_grid, &QAbstractItemModel::modelReset, this, &SweepPanel::showColumns);
    connect(&m_grid, &QAbstractItemModel::dataChanged, this, &SweepPanel::showColumns);
    return page;
}

const projects::Sweep* SweepPanel::current() const
{
    if (const projects::Sweep* named = projects::findSweep(m_project->sweeps, m_name)) {
        return named;
    }
    return m_project->sweeps.empty() ? nullptr : &m_project->sweeps.front();
}

const projects::Sweep& SweepPanel::shown() const
{
    const projects::Sweep* const sweep = current();
    return sweep != nullptr ? *sweep : m_draft;
}

void SweepPanel::setProject(projects::ProjectSnapshot project)
{
    m_project = std::move(project);
    m_stale = true;
    ++m_asked; // pending answers are outdated
    if (isVisible()) {
        showSweep();
    }
}

/// Reads the members' statuses again if a run was added, removed or has another status. A growing run reports its step
/// many times a second, which the grid does not show.
void SweepPanel::onRunsChanged()
{
    auto known =
        mapped<std::vector<std::pair<std::string, engine::RunStatus>>>(m_runs.runs(), [](const engine::RunInfo& run) {
            return std::pair<std::string, engine::RunStatus>(run.directory, run.status);
        });
    if (known != m_known) {
        m_known = std::move(known);
        readStatuses();
    }
}

void SweepPanel::readStatuses()
{
    ++m_statusesAsked; // pending answers are outdated
    if (m_grid.members().empty() || !isVisible()) {
        return; // read when it is shown
    }
    const auto read = [runs = m_runs.runs(), members = m_grid.members()] {
        return mapped<std::vector<engine::MemberStatus>>(
            members, [&](const projects::SweepMember& member) { return engine::memberStatusAmong(runs, member); });
    };
    inBackground(this, read, [this, asked = m_statusesAsked](std::vector<engine::MemberStatus> statuses) {
        if (asked == m_statusesAsked) {
            m_grid.setStatuses(std::move(statuses));
            showTotal();
        }
    });
}

void SweepPanel::setRate(double flopPerSecond)
{
    m_grid.setRate(flopPerSecond);
    showTotal();
}

void SweepPanel::setQueued(std::vector<engine::StartRun> runs)
{
    m_grid.setQueued(std::move(runs));
    if (m_grid.rowCount() > 0) { // else the label shows why there is no grid
        showTotal();
    }
}

void SweepPanel::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (m_stale) {
        showSweep();
    } else {
        readStatuses();
    }
}

/// Places fields and grid side by side if there is room, else the fields above the grid.
void SweepPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const bool beside = width() >= (height() < kHigh ? kRoomForBoth : kAmpleForBoth);
    const Qt::Orientation fits = beside ? Qt::Horizontal : Qt::Vertical;
    m_split->widget(0)->setMinimumWidth(beside ? kFormWidth : 0);
    if (fits != m_split->orientation()) {
        m_split->setOrientation(fits);
        const int share = beside ? std::max(kFormWidth, width() * 2 / 5) : height() / 2;
        m_split->setSizes({share, (beside ? width() : height()) - share});
    }
}

void SweepPanel::showSweep()
{
    const bool isDraft = current() == nullptr;
    if (isDraft) {
        m_draft =
            projects::withNewSweep({}, {{kTopologyField, {}, {presentTopology(*m_project)}}, seedAxis(kFirstSeeds)})
                .front();
    }
    if (isDraft && !std::exchange(m_isDraft, isDraft)) {
        removeRows(0); // text that is typed in them belongs to a sweep that is gone
    }
    m_isDraft = isDraft;
    const projects::Sweep& sweep = shown();
    m_name = sweep.name;
    m_remove->setEnabled(!isDraft);
    if (!m_sweeps->lineEdit()->isModified()) {
        const QSignalBlocker quiet(m_sweeps);
        m_sweeps->clear();
        for (const projects::Sweep& each : isDraft ? std::vector{m_draft} : m_project->sweeps) {
            m_sweeps->addItem(QString::fromStdString(each.name));
        }
        m_sweeps->setCurrentIndex(m_sweeps->findText(QString::fromStdString(m_name)));
    }
    showValue(*m_sweeps->lineEdit(), QString::fromStdString(m_name));
    showRows(sweep);
    previewSoon();
}

void SweepPanel::removeRows(std::size_t count)
{
    while (m_rows.size() > count) {
        m_rows.back()->disconnect(this); // hiding a row commits its text
        m_rows.back()->hide();
        m_rows.back()->setParent(nullptr); // no longer among the panel's fields
        m_rows.back()->deleteLater();      // the sender may be its own button
        m_rows.pop_back();
    }
}

void SweepPanel::showRows(const projects::Sweep& sweep)
{
    removeRows(sweep.axes.size());
    while (m_rows.size() < sweep.axes.size()) {
        const std::size_t at = m_rows.size();
        auto* row = new SweepAxisRow(static_cast<int>(at) + 1, m_palette, this);
        row->setFields(m_fields);
        m_rowColumn->addWidget(row);
        connect(row, &SweepAxisRow::changed, this, [this, at](const projects::SweepAxis& axis) {
            if (at >= shown().axes.size()) {
                return; // the row is removed with its field, and so is the text being typed
            }
            projects::Sweep changed = shown();
            changed.axes[at] = axis;
            change(std::move(changed));
        });
        connect(row, &SweepAxisRow::removeRequested, this, [this, at] {
            projects::Sweep changed = shown();
            changed.axes.erase(changed.axes.begin() + static_cast<std::ptrdiff_t>(at));
            change(std::move(changed));
        });
        m_rows.push_back(row);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i]->setAxis(sweep.axes[i], m_project);
    }
    for (const auto& [field, button] : m_adders) {
        const bool isKnown = !field.empty() && projects::setsField(sweep, field);
        button->setVisible(sweep.axes.size() < projects::kMaxSweepAxes && !isKnown);
    }
}

void SweepPanel::previewSoon()
{
    m_stale = true;
    ++m_asked;
    m_soon.start();
}

void SweepPanel::preview()
{
    m_stale = false;
    const auto make = [project = m_project, sweep = shown()] {
        Preview made{sweepableFields(*project), projects::expand(*project, sweep), {}};
        if (made.grid) {
            made.warnings = axesWithoutEffect(sweep, *made.grid);
        }
        return made;
    };
    inBackground(this, make, [this, asked = m_asked](const Preview& made) {
        if (asked != m_asked) {
            return;
        }
        if (made.fields != m_fields) {
            m_fields = made.fields;
            for (SweepAxisRow* row : m_rows) {
                row->setFields(m_fields);
            }
        }
        m_warnings = made.warnings;
        takeGrid(made.grid);
        m_gridOf = asked;
        if (m_queueOf == asked) {
            queue();
        }
    });
}

void SweepPanel::takeGrid(const Result<std::vector<projects::SweepMember>>& grid)
{
    if (grid) {
        m_grid.setMembers(*grid, shown());
    } else {
        m_grid.setMembers({}, {});
    }
    readStatuses();
    showTotal();
    if (!grid) {
        m_total->setText(QString::fromStdString(grid.error().message));
    }
}

projects::Rungs SweepPanel::rungs() const
{
    if (!m_halve->isChecked() || m_grid.members().empty()) {
        return {};
    }
    const std::int64_t steps = m_grid.members().front().project.training.steps;
    projects::Rungs rungs = projects::rungsFor(steps);
    return projects::checkRungs(rungs, m_grid.sweep(), steps) ? rungs : projects::Rungs();
}

/// Hides the columns that are empty, such as losses before a first run, so that the others fit.
void SweepPanel::showColumns()
{
    for (int column = 0; column < m_grid.columnCount(); ++column) {
        m_table->setColumnHidden(column, m_grid.rowCount() > 0 && !m_grid.isUsed(column));
    }
}

void SweepPanel::showTotal()
{
    const int members = m_grid.rowCount();
    const int trainable = static_cast<int>(m_grid.trainable().size());
    const int count = static_cast<int>(m_grid.untrained().size());
    const projects::Rungs early = rungs();
    double flops = m_grid.totalFlops();
    if (!early.empty()) {
        const auto steps = m_grid.members().front().project.training.steps;
        flops *= projects::halvedShare(early, projects::groupCount(m_grid.sweep()), steps);
    }
    QStringList parts;
    parts << (trainable == members ? tr("%n members", nullptr, members)
                                   : tr("%1 of %n can train", nullptr, members).arg(trainable));
    if (count < trainable) {
        parts << tr("%1 to train").arg(count);
    }
    parts << (early.empty() ? tr("%1 FLOP in all") : tr("about %1 FLOP in all")).arg(formatCount(flops))
          << (m_grid.rate() > 0 ? tr("about %1").arg(formatDuration(flops / m_grid.rate()))
                                : tr("time not known before a first run"));
    QStringList lines{parts.join(QStringLiteral("  ·  "))};
    for (const std::string& warning : m_warnings) {
        lines << QString::fromStdString(warning);
    }
    m_total->setText(members > 0 ? lines.join('\n') : QString());
    m_queue->setText(early.empty() ? tr("Queue %n runs", nullptr, count)
                                   : tr("Train %n runs by halves", nullptr, count));
    m_queue->setEnabled(count > 0);
    auto steps = mapped<QStringList>(early, [&](const std::int64_t rung) { return formatWhole(rung); });
    m_halve->setToolTip(early.empty()
                            ? tr("The better half of the members goes on from an eighth, a quarter and a half "
                                 "of the steps, by the mean over seeds")
                            : tr("The better half goes on from the steps %1").arg(steps.join(", ")));
}

/// Replaces the shown sweep.
void SweepPanel::change(projects::Sweep sweep)
{
    const std::string before = std::exchange(m_name, sweep.name);
    emit editRequested(projects::SetSweeps{withSweep(m_project->sweeps, before, std::move(sweep))});
}

void SweepPanel::createSweep(std::vector<projects::SweepAxis> axes)
{
    std::vector<projects::Sweep> sweeps = withNewSweep(m_project->sweeps, std::move(axes));
    m_name = sweeps.back().name;
    emit editRequested(projects::SetSweeps{std::move(sweeps)});
}

void SweepPanel::removeSweep()
{
    emit editRequested(projects::SetSweeps{withoutSweep(m_project->sweeps, m_name)});
}

void SweepPanel::rename()
{
    m_sweeps->lineEdit()->setModified(false);
    const std::string name = m_sweeps->currentText().trimmed().toStdString();
    if (name == shown().name) {
        return;
    }
    if (name.empty() || projects::findSweep(m_project->sweeps, name)) {
        showSweep(); // each sweep needs a name of its own
        return;
    }
    projects::Sweep changed = shown();
    changed.name = name;
    change(std::move(changed));
}

void SweepPanel::addAxis(const projects::SweepAxis& axis)
{
    const projects::Sweep* const sweep = current();
    std::optional<projects::Sweep> changed = sweep ? withAxis(*sweep, axis) : std::nullopt;
    if (changed) {
        change(*std::move(changed));
    } else {
        createSweep({axis});
    }
}

/// Adds a field to the shown sweep, which may be the draft.
void SweepPanel::addToShown(const projects::SweepAxis& axis)
{
    if (std::optional<projects::Sweep> changed = withAxis(shown(), axis)) {
        change(*std::move(changed));
    }
}

void SweepPanel::begin()
{
    if (!m_rows.empty()) {
        m_rows.front()->focusField();
    }
}

/// If the shown grid is outdated, the members are queued when they are known.
void SweepPanel::queue()
{
    if (current() == nullptr) {
        change(m_draft); // its members belong to a sweep of the document
    }
    if (m_gridOf != m_asked) {
        m_queueOf = m_asked;
        return;
    }
    if (const projects::Rungs early = rungs(); !early.empty()) {
        emit halvingRequested({m_grid.trainable(), m_grid.sweep(), early});
    } else {
        emit queueRequested(m_grid.untrained());
    }
}

} // namespace residua::app
