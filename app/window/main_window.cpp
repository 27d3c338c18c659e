// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/main_window.h"

#include "app/actions/block_commands.h"
#include "app/actions/bundle_commands.h"
#include "app/actions/canvas_actions.h"
#include "app/actions/canvas_menu.h"
#include "app/actions/edit_commands.h"
#include "app/actions/gap_commands.h"
#include "app/actions/help_commands.h"
#include "app/actions/run_commands.h"
#include "app/actions/sweep_commands.h"
#include "app/actions/tokeniser_commands.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/commands.h"
#include "app/look/elided_label.h"
#include "app/look/format.h"
#include "app/look/screen_fit.h"
#include "app/look/theme.h"
#include "app/properties/customisation.h"
#include "app/runs/run_bar.h"
#include "app/runs/runs_panel.h"
#include "app/start/recent_projects.h"
#include "app/start/start_page.h"
#include "app/views/document_views.h"
#include "app/views/run_follower.h"
#include "app/views/schedule_views.h"
#include "app/views/theory_views.h"
#include "app/workspace/banner.h"
#include "engine/api/run_paths.h"
#include "projects/base/text.h"
#include "projects/library/examples.h"
#include "projects/library/schedule_presets.h"
#include "projects/transfer/topology_choice.h"
#include "visualizers/theory/theory_view.h"

#include <QCloseEvent>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

namespace {

constexpr int kNoteMilliseconds = 8000;
constexpr std::size_t kChangesTold = 6;
constexpr QSize kFirstSize(1440, 900);

QString toQString(const std::filesystem::path& path)
{
    return QDir::toNativeSeparators(QString::fromStdString(path.string()));
}

} // namespace

MainWindow::MainWindow(Look& look, WindowFolders folders, Memory memory, QWidget* parent)
    : QMainWindow(parent),
      m_look(look),
      m_folders(std::move(folders)),
      m_memory(memory),
      m_actions(*this),
      m_session(m_folders.drafts),
      m_analysis(m_session),
      m_runs(m_session, m_engine)
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(QIcon(QStringLiteral(":/residua/residua.svg")));
    setUnifiedTitleAndToolBarOnMac(true);
    m_runs.setProjectsFolder(m_folders.projects);

    makePages();
    m_runBar = new RunBar(m_runs, m_engine, m_actions.run, m_look, this);
    addToolBar(m_runBar);
    m_menus = fillMenus(*menuBar(), m_actions);
    for (QDockWidget* dock : m_workspace->docks()) {
        m_menus.panels->addAction(dock->toggleViewAction());
    }
    m_menus.runs->addActions(m_workspace->view<RunsPanel>().commands());
    m_menus.runs->addActions(m_workspace->view<RunsPanel>().furtherCommands());
    m_documents = new DocumentViews(m_session, m_analysis, *m_workspace, this);
    m_editCommands = new EditCommands(m_session, *m_workspace, *m_documents, this);
    m_canvasActions = new CanvasActions(*this, *m_menus.edit, *m_editCommands, *m_workspace);
    new CanvasMenu(*m_documents, *m_workspace, m_actions, *m_canvasActions, this);
    m_commands = new Commands(*this);
    auto* blocks = new BlockCommands(m_session, *m_workspace, *m_documents, *m_editCommands, m_folders.blocks, this);
    connect(m_actions.saveBlock, &QAction::triggered, blocks, [this, blocks] {
        m_workspace->showCanvas(WorkspaceView::Block);
        blocks->openSavePopup();
    });
    connect(blocks, &BlockCommands::noted, this, &MainWindow::note);
    connect(blocks, &BlockCommands::refused, this, &MainWindow::refuse);
    m_runFollower = new RunFollower(m_session, m_runs, m_archive, *m_workspace, this);
    m_sweepCommands = new SweepCommands(m_session, m_runs, *m_documents, *m_workspace, this);
    m_bundleCommands = new BundleCommands(m_session, m_folders.projects, this);
    auto* tokeniserCommands = new TokeniserCommands(m_session, m_engine, *m_documents, *m_workspace, this);
    connect(tokeniserCommands, &TokeniserCommands::refused, this, &MainWindow::refuse);
    auto* runCommands = new RunCommands(m_session, m_engine, m_runs, *m_workspace, this);
    connect(runCommands, &RunCommands::refused, this, &MainWindow::refuse);
    connect(runCommands, &RunCommands::noted, this, &MainWindow::note);
    auto* gapCommands = new GapCommands(m_session, m_engine, m_runs, *m_documents, *m_workspace, this);
    connect(gapCommands, &GapCommands::refused, this, &MainWindow::refuse);
    connectSchedule(m_session, m_analysis, m_runs, *m_documents, m_workspace->shownRuns(), m_workspace->schedule());
    new TheoryViews(m_session, m_workspace->view<visualizers::TheoryView>(), this);
    new HelpCommands(m_actions, m_session, *m_documents, *m_workspace, m_look, this);
    makeStatusBar();
    connectFile();
    connectBundles();
    connectEdit();
    connectView();
    connectRun();
    connectQueue();
    connectRecords();
    resizeWithinScreen(*this, kFirstSize);
    restoreLayout();
    showStartPage();
}

void MainWindow::makePages()
{
    m_start = new StartPage(m_look, m_folders.drafts);
    m_workspace = new Workspace(m_look);
    m_banner = new Banner;
    m_pages = new QStackedWidget;
    m_pages->setObjectName(QStringLiteral("pages"));
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_workspace);
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(centre);
}

/// A field is left, and its value taken, while there still is a document to put it into; a dialog gives up what it has
/// asked of the engine while there still is one.
MainWindow::~MainWindow()
{
    hide();
    qDeleteAll(findChildren<QDialog*>(Qt::FindDirectChildrenOnly));
}

void MainWindow::makeStatusBar()
{
    m_queueLine = new QLabel(this);
    m_problemCount = new QLabel(this);
    m_costLine = new QLabel(this);
    m_placeLine = new ElidedLabel(Qt::ElideMiddle, this);
    for (QLabel* label : std::initializer_list<QLabel*>{m_queueLine, m_problemCount, m_costLine, m_placeLine}) {
        label->setContentsMargins(8, 0, 8, 0);
        label->setProperty("role", QStringLiteral("muted"));
        statusBar()->addPermanentWidget(label);
    }
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::openProject(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (path.extension() == engine::kBundleSuffix && std::filesystem::is_regular_file(path, ignored)) {
        m_bundleCommands->bringBack(path);
        return;
    }
    if (std::filesystem::is_regular_file(path / engine::kRunFile, ignored)) {
        openRun(path);
        return;
    }
    if (const Status opened = m_session.open(path); !opened) {
        refuse(QString::fromStdString(opened.error().text()));
    }
}

Status MainWindow::openExample(const std::string& name)
{
    const projects::Example* example = projects::findExample(name);
    if (!example) {
        return Error{name,
                     "is no example; there are " + joinedText(projects::examples(), ", ", &projects::Example::name)};
    }
    return m_session.start({example->project, {}});
}

void MainWindow::showStartPage()
{
    m_start->refresh();
    m_pages->setCurrentWidget(m_start);
    m_runBar->setVisible(false);
    updateState();
}

void MainWindow::onOpened()
{
    m_banner->hide();
    m_filesChanged = false;
    if (!m_session.isOpen()) {
        return;
    }
    m_pages->setCurrentWidget(m_workspace);
    m_runBar->setVisible(true);
    arrangeOnce();
    m_workspace->canvas().surface()->setFocus();
    if (!m_session.isDraft()) {
        remember(QString::fromStdString(m_session.directory().string()));
    }
    if (!m_session.isDraft() && !m_session.isElsewhere()) {
        m_runs.takeUpQueue();
    }
    m_analysis.update();
    offerRecovered();
    updateState();
}

void MainWindow::updateState()
{
    const bool open = m_session.isOpen() && m_pages->currentWidget() == m_workspace;
    for (QAction* action : m_actions.ofProject()) {
        action->setEnabled(open);
    }
    m_actions.revert->setEnabled(open && !m_session.isDraft() && m_session.modified());
    const projects::History& history = m_session.history();
    m_actions.undo->setEnabled(open && history.canUndo());
    m_actions.redo->setEnabled(open && history.canRedo());
    m_actions.backToPreset->setEnabled(open && customisedPreset(m_session.project()));
    m_actions.undo->setText(history.canUndo() ? tr("&Undo %1").arg(QString::fromStdString(history.undoTitle()))
                                              : tr("&Undo"));
    m_actions.redo->setText(history.canRedo() ? tr("&Redo %1").arg(QString::fromStdString(history.redoTitle()))
                                              : tr("&Redo"));
    setWindowTitle(open ? tr("%1[*] — Residua").arg(QString::fromStdString(m_session.project().name)) : tr("Residua"));
    setWindowModified(open && m_session.modified());
    updateTopologies();
    updateStatus();
    updateCanvasKeys();
}

void MainWindow::updateTopologies()
{
    if (!m_session.isOpen()) {
        return;
    }
    const projects::Topology& topology = m_session.project().topology;
    const auto presets = projects::topologyChoices(m_session.project().network);
    QStringList titles;
    const std::optional<std::size_t> current = projects::presetIndexOf(m_session.project(), presets);
    for (const projects::TopologyPreset& preset : presets) {
        titles << QString::fromStdString(preset.title);
    }
    const bool custom = !current || presets[*current].wiring != topology.wiring;
    m_runBar->setTopologies(titles, current ? static_cast<int>(*current) : -1, custom);
}

void MainWindow::updateStatus()
{
    const bool open = m_session.isOpen() && m_pages->currentWidget() == m_workspace;
    const auto& problems = m_analysis.problems();
    m_problemCount->setText(open && !problems.empty() ? tr("Problems: %1").arg(problems.size()) : QString());
    const auto& cost = m_analysis.cost();
    const bool queue = m_runs.queued() > 0;
    m_queueLine->setText(m_runs.queueHeld() ? tr("Queue stopped: %1").arg(m_runs.queued())
                         : queue            ? tr("Queued runs: %1").arg(m_runs.queued())
                                            : QString());
    m_actions.clearQueue->setEnabled(queue);
    m_actions.goOnWithQueue->setEnabled(queue && m_runs.phase() == RunPhase::Idle);
    m_actions.skip->setEnabled(queue && (m_runs.phase() == RunPhase::Running || m_runs.phase() == RunPhase::Paused));
    m_costLine->setText(open && cost ? tr("%1 parameters").arg(formatCount(static_cast<double>(cost->total.parameters)))
                                     : QString());
    m_placeLine->setText(!open                 ? QString()
                         : m_session.isDraft() ? tr("not saved yet")
                                               : toQString(m_session.directory()));
}

/// F freezes selected shortcuts; with none selected it fits. One key never stands for two enabled commands.
void MainWindow::updateCanvasKeys()
{
    const bool open = m_session.isOpen() && m_pages->currentWidget() == m_workspace;
    const bool canvas = open && m_workspace->frontCanvas();
    const QList<QAction*> ofWindow{m_actions.selectAll, m_actions.deselect, m_actions.fit, m_actions.zoomToSelection};
    for (QAction* action : ofWindow + m_canvasActions->ofCanvas()) {
        action->setEnabled(canvas);
    }
    m_canvasActions->openBlock->setEnabled(open);
    const bool commands = open && m_editCommands->available();
    for (QAction* action : m_canvasActions->ofSelection()) {
        action->setEnabled(commands);
    }
    const bool shortcuts = std::holds_alternative<ShortcutsPlace>(m_documents->place());
    m_actions.freeze->setEnabled(commands && shortcuts);
    m_actions.prune->setEnabled(commands && !m_documents->selection().empty());
    QList<QKeySequence> keys = m_commands->keys().keysOf(m_actions.fit);
    if (shortcuts) {
        for (const QKeySequence& key : m_commands->keys().keysOf(m_actions.freeze)) {
            keys.removeAll(key);
        }
    }
    m_actions.fit->setShortcuts(keys);
}

void MainWindow::offerRecovered()
{
    if (m_session.origin() != Origin::Recovered) {
        return;
    }
    if (m_session.isDraft()) {
        m_banner->say(BannerKind::Note, tr("This is unsaved work of an earlier session, as it was left."));
    } else {
        m_banner->say(BannerKind::Note,
                      tr("Residua ended before these changes were saved. They have been recovered; saving keeps them."),
                      {{tr("Save"), [this] { save(); }},
                       {tr("Go back to the saved version"), [this] { m_actions.revert->trigger(); }}});
    }
    m_banner->whileTrue([this] { return m_session.origin() == Origin::Recovered; });
}

/// Something was done: what the banner says may have lost its cause.
void MainWindow::noticeAction()
{
    ++m_actionCount;
    m_banner->recheck();
}

void MainWindow::offerReload()
{
    m_filesChanged = true;
    const auto changes = m_session.changesOnDisk();
    if (!changes) { // half written, or no project any more: nothing to load
        refuse(
            tr("Another program changed this project's files: %1").arg(QString::fromStdString(changes.error().text())));
        return;
    }
    QStringList lines{tr("Another program changed this project's files.")};
    for (std::size_t i = 0; i < changes->size() && i < kChangesTold; ++i) {
        lines << QString::fromStdString((*changes)[i].text());
    }
    if (changes->size() > kChangesTold) {
        lines << tr("… and %n more", nullptr, static_cast<int>(changes->size() - kChangesTold));
    }
    m_banner->say(BannerKind::Note, lines.join(QLatin1Char('\n')),
                  {{tr("Load them"), [this] { loadFiles(tr("Load from disk")); }},
                   {tr("Keep what is here"), [this] { m_filesChanged = false; }}});
    m_banner->whileTrue([this] { return m_filesChanged; });
}

/// Shows the reason until the document is changed or a run is started.
void MainWindow::refuse(const QString& reason)
{
    m_banner->say(BannerKind::Error, reason);
    m_banner->whileTrue([this, then = m_actionCount] { return m_actionCount == then; });
}

void MainWindow::note(const QString& text)
{
    statusBar()->showMessage(text, kNoteMilliseconds);
}

QString MainWindow::bannerText() const
{
    return m_banner->text();
}

} // namespace residua::app
