// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/runs/runs_panel.h"

#include "app/engine/background.h"
#include "app/look/format.h"
#include "app/look/theme.h"
#include "app/runs/run_table.h"
#include "app/training/run_controller.h"
#include "visualizers/plot/arrange.h"
#include "visualizers/plot/plot_controls.h"
#include "visualizers/runs/shown_runs.h"

#include <QAction>
#include <QDesktopServices>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QToolButton>
#include <QTreeView>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

namespace residua::app {
namespace {

constexpr std::size_t kNamed = 20; ///< waiting runs listed in the tooltip

constexpr int kSearchWidth = 130;

QAction* panelAction(const char* name, const QString& icon, const QString& text, const QString& toolTip,
                     QObject* parent)
{
    auto* action = new QAction(icon.isEmpty() ? QIcon() : themedIcon(icon), text, parent);
    action->setObjectName(QString::fromLatin1(name)); // stored in the user's settings, so it must not change
    action->setToolTip(toolTip);
    action->setStatusTip(toolTip);
    return action;
}

} // namespace

QueueStrip::QueueStrip(QWidget* parent) : QWidget(parent), m_text(new QLabel(this))
{
    setObjectName(QStringLiteral("queueStrip"));
    m_text->setMinimumWidth(40);
    visualizers::makeRow(this, {QMargins(8, 2, 4, 2), 4}, {{m_text, 1}});
    hide();
}

void QueueStrip::follow(const RunController& controller, QAction* goOn, QAction* skip, QAction* clear)
{
    for (QAction* action : {goOn, skip, clear}) {
        auto* button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
        layout()->addWidget(button);
    }
    connect(&controller, &RunController::queueChanged, this, [this, &controller] { refresh(controller); });
    refresh(controller);
}

void QueueStrip::refresh(const RunController& controller)
{
    const auto names = controller.queuedNames();
    const int count = static_cast<int>(names.size());
    m_text->setText(controller.queueHeld() ? tr("Queue stopped, %n waiting", nullptr, count)
                                           : tr("Queued: %n", nullptr, count));
    QStringList lines;
    for (std::size_t i = 0; i < names.size() && i < kNamed; ++i) {
        lines << QString::fromStdString(names[i]);
    }
    if (names.size() > kNamed) {
        lines << tr("… and %n more", nullptr, count - static_cast<int>(kNamed));
    }
    m_text->setToolTip(lines.join(QLatin1Char('\n')));
    setVisible(count > 0);
}

RunsPanel::RunsPanel(RunsModel& model, visualizers::ShownRuns& shown, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_shown(shown),
      m_tree(new RunsTree(this)),
      m_show(panelAction("run:show", QStringLiteral("topology"), tr("Show"),
                         tr("Show this run's coefficients on the canvas and in the heatmap"), this)),
      m_resume(panelAction("run:resume", QStringLiteral("run"), tr("Resume…"),
                           tr("Go on from one of the run's checkpoints, to as many steps as you like"), this)),
      m_fork(panelAction("run:fork", QStringLiteral("shortcut"), tr("Fork"),
                         tr("Go on from one of its checkpoints as a run of its own"), this)),
      m_sample(panelAction("run:sample", {}, tr("Sample a text"),
                           tr("Have the run's language model continue a text, or fill its masked tokens"), this)),
      m_compare(panelAction("run:compare", QStringLiteral("graph"), tr("Compare"),
                            tr("Select two runs: how their wiring, results and coefficients differ"), this)),
      m_baseline(
          panelAction("run:baseline", {}, tr("Baseline"),
                      tr("Show the differences from this run, or from the runs of this group, in the plots and in "
                         "the list"),
                      this)),
      m_sides(panelAction("run:sides", {}, tr("Side by side"),
                          tr("Select two to four runs: their wirings and weights at one step, on one scale"), this)),
      m_remove(panelAction("run:delete", QStringLiteral("close"), tr("Delete"),
                           tr("Move the run to the trash, from where it can be brought back"), this)),
      m_rename(panelAction("run:rename", {}, tr("Rename"), tr("Give the run another name (F2)"), this)),
      m_reveal(
          panelAction("run:reveal", {}, tr("Show the folder"), tr("Open the run's folder in the file manager"), this))
{
    m_ofOneRun = {{m_resume, When::AtRest}};
    m_further = {m_baseline, m_sides, m_sample, m_rename, m_reveal};
    setObjectName(QStringLiteral("runsPanel"));
    setAttribute(Qt::WA_StyledBackground);
    m_empty->setText(tr("No runs yet. Press Run, and the first one stands here."));
    visualizers::makeRemark(*m_empty);
    m_empty->setAlignment(Qt::AlignCenter);
    m_filter->setSourceModel(&model);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setFilterKeyColumn(-1);
    m_filter->setFilterRole(RunsModel::kFilterRole);
    m_filter->setRecursiveFilteringEnabled(true);
    fitTree();
    m_fork->setMenu(new QMenu(this));
    auto* remove = new QAction(tr("Delete"), m_tree);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    m_tree->addAction(remove);

    makeBar();
    visualizers::makeColumn(this, visualizers::kNoRoom, {m_queue, m_bar, {m_empty, 1}, {m_tree, 1}});
    connectButtons();
    connect(remove, &QAction::triggered, m_remove, &QAction::trigger);
    connect(m_fork->menu(), &QMenu::aboutToShow, this, &RunsPanel::fillCheckpoints);
    connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::updateState);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
        if (!m_following) {
            m_shown.choose(currentDirectory());
        }
    });
    connect(&shown, &visualizers::ShownRuns::chosenChanged, this, &RunsPanel::followChosen);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        {
            // When a run is filtered out, its neighbour becomes the current row, but not the chosen run.
            const QScopedValueRollback following(m_following, true);
            m_filter->setFilterFixedString(text);
        }
        leaveOut();
        followChosen();
    });
    connect(&model, &RunsModel::modelReset, this, [this] {
        m_filter->setAutoAcceptChildRows(!m_model.grouping().isEmpty()); // a group's title is text of all its runs
        m_tree->expandAll();
        leaveOut();
        followChosen();
        updateState();
    });
    connect(&model, &RunsModel::dataChanged, this, &RunsPanel::updateState);
    connect(&model, &RunsModel::listed, this, &RunsPanel::leaveOut);
    updateState();
}

void RunsPanel::addCommand(const char* name, When when, const Words& words, QObject* receiver,
                           const std::function<void(const std::string& directory)>& carryOut)
{
    QAction* const action = panelAction(name, words.icon, words.text, words.toolTip, this);
    connect(action, &QAction::triggered, receiver, [this, carryOut] {
        if (const engine::RunInfo* run = current()) {
            carryOut(run->directory);
        }
    });
    m_ofOneRun.emplace_back(action, when);
    m_further << action;
    updateState();
}

/// The filter, and the commands of the selected runs as buttons.
void RunsPanel::makeBar()
{
    auto* row = new visualizers::ControlRows(m_bar);
    row->addWidget(m_search);
    for (QAction* command : commands()) {
        auto* button = new QToolButton(m_bar);
        button->setDefaultAction(command);
        button->setIconSize({16, 16});
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setPopupMode(command->menu() ? QToolButton::InstantPopup : QToolButton::DelayedPopup);
        row->addWidget(button);
    }
}

void RunsPanel::clearFilter()
{
    m_search->clear();
}

/// What is set of the filter's field and of the tree once and for all.
void RunsPanel::fitTree()
{
    m_search->setObjectName(QStringLiteral("runsFilter")); // pages keep its text by this name
    m_search->setPlaceholderText(tr("Filter the runs"));
    m_search->setAccessibleName(tr("Filter the runs"));
    m_search->setClearButtonEnabled(true);
    m_search->setToolTip(tr("By what stands in any column; plots leave the other runs out too"));
    m_search->setFixedWidth(kSearchWidth); // leaves the commands room below a canvas
    visualizers::setNames(*m_tree, "runsTree", tr("Runs"));
    m_tree->setModel(m_filter);
    m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(16);
    m_tree->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::SelectedClicked);
    m_tree->header()->setStretchLastSection(true);
    m_tree->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    for (const int column : {int(RunsModel::Name), int(RunsModel::Notes)}) {
        m_tree->header()->setSectionResizeMode(column, QHeaderView::Interactive);
    }
    m_filter->setSortRole(RunsModel::kSortRole);
    m_table = new RunTable(m_model, *m_tree);
}

void RunsPanel::connectButtons()
{
    const auto show = [this] {
        if (const engine::RunInfo* run = current()) {
            m_shown.bringToFront(run->directory);
        }
    };
    connect(m_tree, &QTreeView::activated, this, show);
    connect(m_show, &QAction::triggered, this, show);
    connect(m_sample, &QAction::triggered, this, &RunsPanel::sampleRequested);
    connect(m_rename, &QAction::triggered, this, &RunsPanel::rename);
    m_baseline->setCheckable(true);
    connect(m_baseline, &QAction::triggered, this, &RunsPanel::toggleBaseline);
    connect(m_resume, &QAction::triggered, this, [this] { emit goOnRequested(currentDirectory(), GoOnKind::Resume); });
    connect(&m_shown, &visualizers::ShownRuns::baselineChanged, this, &RunsPanel::updateState);
    connect(m_reveal, &QAction::triggered, this, &RunsPanel::reveal);
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_tree, &QWidget::customContextMenuRequested, this, &RunsPanel::openMenu);
    connect(m_remove, &QAction::triggered, this, [this] {
        std::vector<std::string> directories; // a copy, because the list may change
        for (const engine::RunInfo* run : selected()) {
            directories.push_back(run->directory);
        }
        if (!directories.empty()) {
            emit removeRequested(directories);
        }
    });
    connect(m_sides, &QAction::triggered, this, [this] {
        std::vector<std::string> directories;
        for (const engine::RunInfo* run : selected()) {
            directories.push_back(run->directory);
        }
        emit sidesRequested(directories);
    });
    connect(m_compare, &QAction::triggered, this, [this] {
        const auto runs = selected();
        if (runs.size() == 2) {
            emit compareRequested(std::string(runs[0]->directory), std::string(runs[1]->directory));
        }
    });
}

void RunsPanel::openMenu(const QPoint& position)
{
    if (!m_tree->indexAt(position).isValid()) {
        return;
    }
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addActions(commands());
    menu->insertSeparator(m_remove);
    menu->insertActions(m_remove, furtherCommands());
    menu->insertSeparator(m_remove);
    menu->popup(m_tree->viewport()->mapToGlobal(position));
}

std::string RunsPanel::currentUnit() const
{
    const engine::RunInfo* run = current();
    return run ? run->directory : m_model.groupAt(m_filter->mapToSource(m_tree->currentIndex()));
}

/// Also overlays the runs of a new baseline, because plots have no differences from runs that they do not show.
void RunsPanel::toggleBaseline()
{
    const std::string unit = currentUnit();
    m_shown.setBaseline(unit == m_shown.baseline() ? std::string() : unit);
    std::vector<std::string> runs; // a copy, because the list may change
    for (const engine::RunInfo& run : m_model.runs()) {
        if (m_shown.isOfBaseline(run.directory)) {
            runs.push_back(run.directory);
        }
    }
    for (const std::string& run : runs) {
        m_shown.overlay(run);
    }
}

/// Edits the name in the list.
void RunsPanel::rename()
{
    m_tree->edit(m_tree->currentIndex().siblingAtColumn(RunsModel::Name));
}

void RunsPanel::reveal()
{
    QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(currentDirectory())));
}

const engine::RunInfo* RunsPanel::current() const
{
    return m_model.runAt(m_filter->mapToSource(m_tree->currentIndex()));
}

std::vector<const engine::RunInfo*> RunsPanel::selected() const
{
    std::vector<const engine::RunInfo*> runs;
    for (const QModelIndex& index : m_tree->selectionModel()->selectedRows()) {
        if (const engine::RunInfo* run = m_model.runAt(m_filter->mapToSource(index))) { // null for a group
            runs.push_back(run);
        }
    }
    return runs;
}

std::string RunsPanel::currentDirectory() const
{
    const engine::RunInfo* run = current();
    return run ? run->directory : std::string();
}

void RunsPanel::followChosen()
{
    const QModelIndex index = m_filter->mapFromSource(m_model.indexOf(m_shown.chosen()));
    if (index.row() == m_tree->currentIndex().row() && index.parent() == m_tree->currentIndex().parent()) {
        return; // the user may have selected others together with it
    }
    const QScopedValueRollback following(m_following, true);
    if (index.isValid()) {
        m_tree->setCurrentIndex(index);
        m_tree->scrollTo(index);
    } else {
        m_tree->selectionModel()->clear();
    }
    updateState();
}

/// Plots leave out what the filter leaves out.
void RunsPanel::leaveOut()
{
    std::set<std::string> keys;
    for (const engine::RunInfo& run : m_model.runs()) {
        if (!m_filter->mapFromSource(m_model.indexOf(run.directory)).isValid()) {
            keys.insert(run.directory);
        }
    }
    m_shown.leaveOut(std::move(keys));
}

void RunsPanel::fillCheckpoints()
{
    m_fork->menu()->clear();
    m_fork->menu()->addAction(tr("Looking for checkpoints …"))->setEnabled(false);
    inBackground(
        this, [directory = currentDirectory()] { return std::pair(directory, readGoOnSource(directory)); },
        [this](const std::pair<std::string, Result<GoOnSource>>& found) {
            if (found.first == currentDirectory()) {
                showCheckpoints(found.second);
            }
        });
}

void RunsPanel::showCheckpoints(const Result<GoOnSource>& source)
{
    m_fork->menu()->clear();
    if (!source) {
        m_fork->menu()->addAction(tr("No checkpoint yet"))->setEnabled(false);
        return;
    }
    for (const std::int64_t step : source->checkpoints) {
        const bool isElsewhere = std::ranges::binary_search(source->distant.steps, step);
        m_fork->menu()->addAction(
            isElsewhere
                ? tr("From step %1, at %2").arg(formatWhole(step), QString::fromStdString(source->distant.place))
                : tr("From step %1").arg(formatWhole(step)),
            this, [this, directory = currentDirectory(), step] { emit forkRequested(directory, step); });
    }
    m_fork->menu()->addSeparator();
    m_fork->menu()->addAction(tr("To other steps, data or settings…"), this, [this, directory = currentDirectory()] {
        emit goOnRequested(directory, GoOnKind::Fork);
    });
}

void RunsPanel::updateState()
{
    const bool any = !m_model.runs().empty();
    m_empty->setVisible(!any);
    m_tree->setVisible(any);
    m_bar->setVisible(any);
    const engine::RunInfo* run = current();
    const std::size_t count = selected().size();
    for (QAction* action : {m_show, m_fork, m_sample, m_reveal}) {
        action->setEnabled(run != nullptr);
    }
    m_baseline->setEnabled(!currentUnit().empty());
    m_baseline->setChecked(m_baseline->isEnabled() && currentUnit() == m_shown.baseline());
    const QModelIndex name = m_filter->mapToSource(m_tree->currentIndex()).siblingAtColumn(RunsModel::Name);
    m_rename->setEnabled(m_model.flags(name).testFlag(Qt::ItemIsEditable) && run != nullptr);
    m_compare->setEnabled(count == 2);
    m_sides->setEnabled(count >= kFewestBeside && count <= kMostBeside);
    m_remove->setEnabled(count > 0);
    const bool rests = run && run->status != engine::RunStatus::Running && run->status != engine::RunStatus::Paused;
    for (const auto& [action, when] : m_ofOneRun) {
        action->setEnabled(run && (when == When::AtRest      ? rests
                                   : when == When::UnderWay  ? !rests
                                   : when == When::Elsewhere ? !run->place.empty()
                                                             : true));
    }
}

} // namespace residua::app
