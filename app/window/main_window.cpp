// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/main_window.h"

#include "app/actions/bundle_commands.h"
#include "app/actions/canvas_actions.h"
#include "app/actions/edit_commands.h"
#include "app/actions/fetch_commands.h"
#include "app/actions/open_commands.h"
#include "app/actions/save_commands.h"
#include "app/actions/training_commands.h"
#include "app/block/block_bar.h"
#include "app/canvas/canvas_widget.h"
#include "app/commands/commands.h"
#include "app/look/theme.h"
#include "app/outline/outline_view.h"
#include "app/properties/customisation.h"
#include "app/runs/run_bar.h"
#include "app/runs/runs_panel.h"
#include "app/start/fed_dialog.h"
#include "app/start/start_page.h"
#include "app/sweeps/sweep_panel.h"
#include "app/views/document_views.h"
#include "app/views/run_follower.h"
#include "app/workspace/banner.h"
#include "app/workspace/status_line.h"
#include "visualizers/plot/arrange.h"

#include <QCloseEvent>
#include <QCoreApplication>
#include <QDialog>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <utility>

namespace residua::app {

MainWindow::MainWindow(Look& look, WindowFolders folders, Memory memory, QWidget* parent)
    : QMainWindow(parent),
      m_look(look),
      m_folders(std::move(folders)),
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
    m_memory = new WindowMemory(memory, *this, *m_workspace);
    m_memory->followPlaces(m_session, m_runs);
    makeViews();
    makeDocumentCommands();
    makeRunCommands();
    connectSession();
    connectWindow();
    resizeWithinScreen(*this, {1440, 900});
    m_memory->follow(m_actions, m_session, *m_commands);
    showStartPage();
}

/// Commits the value of a field with the focus while the document still exists, and lets dialogs cancel their requests
/// while the engine still exists.
MainWindow::~MainWindow()
{
    hide();
    qDeleteAll(findChildren<QDialog*>(Qt::FindDirectChildrenOnly));
}

void MainWindow::makePages()
{
    m_start = new StartPage(m_look, m_folders.drafts);
    m_workspace = new Workspace(m_look);
    m_pages = new QStackedWidget;
    m_pages->setObjectName(QStringLiteral("pages"));
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_workspace);
    auto* centre = new QWidget;
    visualizers::makeColumn(centre, visualizers::kNoRoom, {m_pages});
    m_banner = new Banner(centre);
    m_banner->keepAbove(m_workspace->centralWidget()); // plots and tables are below it
    setCentralWidget(centre);
    m_runBar = new RunBar(m_runs, m_engine, m_actions.run, m_look, this);
    addToolBar(m_runBar);
    m_menus = fillMenus(*menuBar(), m_actions);
    for (QDockWidget* dock : m_workspace->docks()) {
        m_menus.panels->addAction(dock->toggleViewAction());
    }
    m_menus.runs->addActions(m_workspace->view<RunsPanel>().commands());
    m_status = new StatusLine(*statusBar(), m_session, m_analysis, m_runs);
}

/// Makes the objects that update the views from the document and its runs.
void MainWindow::makeViews()
{
    m_documents = new DocumentViews(m_session, m_analysis, *m_workspace, this);
    connect(m_documents, &DocumentViews::refused, m_banner, &Banner::refuse);
    connect(m_documents, &DocumentViews::noted, m_status, &StatusLine::note);
    m_runFollower = new RunFollower(m_session, m_runs, m_archive, *m_workspace, this);
    connect(m_runFollower, &RunFollower::refused, m_banner, &Banner::refuse);
    connect(m_runFollower, &RunFollower::rateKnown, &m_workspace->view<SweepPanel>(), &SweepPanel::setRate);
    connectSchedule(m_session, m_analysis, m_runs, *m_documents, m_workspace->shownRuns(), m_workspace->schedule());
}

WindowParts MainWindow::parts()
{
    return {m_folders, m_actions, m_menus,   m_look,       m_session,    m_engine,
            m_runs,    m_archive, *m_start,  *m_workspace, *m_documents, m_runFollower->live(),
            *m_runBar, *m_banner, *m_status, this};
}

void MainWindow::makeDocumentCommands()
{
    connect(m_actions.undo, &QAction::triggered, &m_session, &DocumentSession::undo);
    connect(m_actions.redo, &QAction::triggered, &m_session, &DocumentSession::redo);
    m_editCommands = new EditCommands(parts());
    m_canvasActions = new CanvasActions(*this, *m_menus.edit, *m_editCommands, *m_workspace);
    for (CanvasWidget* canvas : m_workspace->canvases()) {
        canvas->addActions(m_actions.ofCanvas());
    }
    m_workspace->view<OutlineView>().addActions(
        {m_actions.prune, m_actions.freeze, m_actions.teach, m_actions.loadWeights});
    new CanvasMenu(*m_documents, *m_workspace, m_actions, *m_canvasActions, this);
    addBlockCommands(parts(), *m_editCommands);
    addTopologyCommands(parts());
    addTokeniserCommands(parts());
    addTowerCommands(parts());
    m_openCommands = new OpenCommands(parts());
    m_saveCommands = new SaveCommands(parts());
    addViewCommands(parts());
    addCopyCommands(parts());
    addRemoteCommands(parts());
}

void MainWindow::makeRunCommands()
{
    m_trainingCommands = new TrainingCommands(parts());
    connect(m_runBar, &RunBar::deviceChosen, &m_analysis,
            [this](const engine::DeviceInfo& device) { m_analysis.setDevice(projects::deviceKindOf(device.key)); });
    connect(m_actions.fed, &QAction::triggered, this,
            [this] { (new FedDialog(m_session.wholeProject(), m_session.directory(), this))->show(); });
    addSweepCommands(parts());
    addLayersCommands(parts());
    auto* fetch = new FetchCommands(parts());
    connect(m_runFollower, &RunFollower::featureRefused, fetch,
            [this, fetch](const std::string& run, int feature, const QString& reason) {
                const auto again = [this, run, feature](bool here) {
                    if (here && run == m_workspace->shownRuns().front()) {
                        m_workspace->shownMatrices().wantFeature(feature);
                    }
                };
                fetch->ask(run, again, reason);
            });
    addRunCommands(parts(), *fetch);
    addKnockoutCommands(parts(), *fetch);
    addInterventionCommands(parts(), *fetch);
    addVisitsCommands(parts(), *fetch);
    addWeightsCommands(parts(), *m_openCommands);
    addRecordCommands(parts());
    addPageCommands(parts(), *m_openCommands);
    addGapCommands(parts());
    addTheoryCommands(parts());
    auto* bundles = new BundleCommands(parts(), *m_saveCommands);
    connect(bundles, &BundleCommands::projectCame, m_openCommands, &OpenCommands::open);
    connect(m_openCommands, &OpenCommands::bundleGiven, bundles, &BundleCommands::bringBack);
    connect(m_openCommands, &OpenCommands::runOpened, m_runFollower, &RunFollower::followAlso);
    m_menus.runs->addActions(m_workspace->view<RunsPanel>().furtherCommands());
    m_commands = new Commands(*this); // of the menus, which are complete now
    connect(m_commands, &Commands::helpWanted, this, addHelpCommands(parts()));
}

void MainWindow::connectSession()
{
    connect(&m_session, &DocumentSession::opened, this, &MainWindow::onOpened);
    connect(&m_session, &DocumentSession::stateChanged, this, &MainWindow::updateState);
    connect(&m_session, &DocumentSession::stateChanged, m_banner, &Banner::recheck);
    connect(&m_session, &DocumentSession::changed, m_banner, &Banner::noticeAction);
    connect(m_editCommands, &EditCommands::availabilityChanged, this, &MainWindow::updateCanvasKeys);
    connect(m_documents, &DocumentViews::placeChanged, this, &MainWindow::updateCanvasKeys);
    connect(&m_commands->keys(), &KeyBindings::keysChanged, this, &MainWindow::updateCanvasKeys);
}

void MainWindow::connectWindow()
{
    connect(m_actions.startPage, &QAction::triggered, this, &MainWindow::showStartPage);
    connect(m_actions.quit, &QAction::triggered, this, &QWidget::close);
    connect(m_actions.about, &QAction::triggered, this, &MainWindow::about);
    connect(m_actions.keys, &QAction::triggered, m_commands, &Commands::showKeys);
    connect(m_actions.commands, &QAction::triggered, this, [this] {
        m_openCommands->fillRecent(); // the list of recent projects is otherwise filled only when its menu opens
        m_commands->showPalette(documentEntries(m_session, *m_documents, *m_workspace));
    });
    explain(m_start->newButton(), *m_actions.create);
    explain(m_start->openButton(), *m_actions.open);
    explain(m_workspace->blockBar().tidyButton(), *m_canvasActions->tidy);
    explain(m_workspace->blockBar().saveButton(), *m_actions.saveBlock);
}

void MainWindow::openProject(const std::filesystem::path& path)
{
    m_openCommands->open(path);
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
    if (!m_session.isOpen()) {
        return;
    }
    m_pages->setCurrentWidget(m_workspace);
    m_runBar->setVisible(true);
    arrangeOnce();
    m_workspace->canvas().surface()->setFocus();
    if (!m_session.isDraft() && !m_session.isElsewhere()) {
        m_runs.takeUpQueue();
    }
    m_analysis.update();
    m_saveCommands->tellRecovered();
    updateState();
}

bool MainWindow::showsProject() const
{
    return m_session.isOpen() && m_pages->currentWidget() == m_workspace;
}

void MainWindow::updateState()
{
    const bool open = showsProject();
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
    m_status->setProjectShown(open);
    updateCanvasKeys();
}

/// F freezes selected shortcuts, or fits the view if none is selected. A key never triggers two enabled commands.
void MainWindow::updateCanvasKeys()
{
    const bool open = showsProject();
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
    m_actions.freezeAtStart->setEnabled(commands && shortcuts);
    m_actions.prune->setEnabled(commands && !m_documents->selection().empty());
    QList<QKeySequence> keys = m_commands->keys().keysOf(m_actions.fit);
    if (shortcuts) {
        for (const QKeySequence& key : m_commands->keys().keysOf(m_actions.freeze)) {
            keys.removeAll(key);
        }
    }
    m_actions.fit->setShortcuts(keys);
}

QString MainWindow::bannerText() const
{
    return m_banner->text();
}

void MainWindow::paintEvent(QPaintEvent* event)
{
    QMainWindow::paintEvent(event);
    if (!std::exchange(m_devicesAsked, true)) {
        // After painting, because loading the engine blocks this thread, and with it the loading of drawing libraries.
        QTimer::singleShot(0, m_trainingCommands, &TrainingCommands::listDevices);
    }
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    arrangeOnce();
}

/// Waits until the workspace is visible, because docks without a layout accept no size.
void MainWindow::arrangeOnce()
{
    if (isVisible() && m_pages->currentWidget() == m_workspace) {
        m_memory->arrange();
    }
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_memory->keepLayout();
    event->setAccepted(m_trainingCommands->mayClose() && m_saveCommands->mayClose());
}

void MainWindow::about()
{
    QMessageBox box(this);
    box.setWindowTitle(tr("About Residua"));
    box.setIconPixmap(windowIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
    box.setTextFormat(Qt::RichText);
    box.setText(tr("<b>Residua %1</b>").arg(QCoreApplication::applicationVersion()));
    box.setInformativeText(tr("A workbench for the depth topology of neural networks.\n"
                              "Free software under the GNU General Public License, version 3 or later."));
    box.exec();
}

} // namespace residua::app
