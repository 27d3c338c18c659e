// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of the project's files and of the window's layout: saving, opening, leaving.
#include "app/window/main_window.h"

#include "app/actions/bundle_commands.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/runs/runs_panel.h"
#include "app/start/import_dialog.h"
#include "app/start/new_project_dialog.h"
#include "app/start/recent_projects.h"
#include "app/start/start_page.h"
#include "app/views/run_follower.h"
#include "app/workspace/banner.h"
#include "engine/results/run_reader.h"
#include "projects/file/store.h"
#include "visualizers/plot/plot_view.h"

#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QLayout>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>

#include <utility>

namespace residua::app {

namespace {

const QString kGeometryKey = QStringLiteral("window/geometry");
const QString kDocksKey = QStringLiteral("window/docks");
const QString kExtentsKey = QStringLiteral("window/dockExtents");
const QString kExportFolderKey = QStringLiteral("export/folder");
const QString kExportFormatKey = QStringLiteral("export/format");
const QString kExportShapeKey = QStringLiteral("export/shape");

visualizers::ExportChoice exportChoiceOf(const QSettings& settings)
{
    const visualizers::ExportChoice usual;
    return {settings.value(kExportFolderKey).toString(), settings.value(kExportFormatKey, usual.format).toString(),
            settings.value(kExportShapeKey, usual.shape).toSize()};
}

void keep(const visualizers::ExportChoice& choice)
{
    QSettings settings;
    settings.setValue(kExportFolderKey, choice.folder);
    settings.setValue(kExportFormatKey, choice.format);
    settings.setValue(kExportShapeKey, choice.shape);
}

} // namespace

void MainWindow::loadFiles(const QString& title)
{
    m_filesChanged = false;
    if (const Status loaded = m_session.load(title.toStdString()); !loaded) {
        refuse(QString::fromStdString(loaded.error().text()));
    }
}

void MainWindow::save()
{
    finishTyping();
    if (m_filesChanged) {
        m_banner->ask(tr("Another program changed this project's files. Saving would replace what it wrote."),
                      {{tr("Load them"), [this] { loadFiles(tr("Load from disk")); }}, {tr("Save over them"), [this] {
                                                                                            m_filesChanged = false;
                                                                                            save();
                                                                                        }}});
        m_banner->whileTrue([this] { return m_filesChanged; });
        return;
    }
    if (!m_session.isDraft()) {
        if (const Status saved = m_session.save(); !saved) {
            refuse(QString::fromStdString(saved.error().text()));
            return;
        }
        note(tr("Saved"));
        return;
    }
    const auto folder = freeProjectFolder(m_folders.projects, m_session.project().name);
    if (const Status saved = m_session.saveAs(folder); !saved) {
        refuse(QString::fromStdString(saved.error().text()));
        return;
    }
    const QString place = QString::fromStdString(folder.string());
    remember(place);
    note(tr("Saved to %1").arg(QDir::toNativeSeparators(place)));
}

void MainWindow::saveAs()
{
    finishTyping();
    const auto proposal = freeProjectFolder(m_folders.projects, m_session.project().name);
    QFileDialog dialog(this, tr("Save the project to a folder"),
                       QString::fromStdString(proposal.parent_path().string()));
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setFileMode(QFileDialog::AnyFile);
    dialog.selectFile(QString::fromStdString(proposal.filename().string()));
    if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) {
        return;
    }
    const QString folder = dialog.selectedFiles().front();
    if (const Status saved = m_session.saveAs(folder.toStdString()); !saved) {
        refuse(QString::fromStdString(saved.error().text()));
        return;
    }
    m_filesChanged = false; // those are another project's now
    remember(folder);
    note(tr("Saved to %1").arg(QDir::toNativeSeparators(folder)));
}

void MainWindow::connectBundles()
{
    connect(m_actions.takeAlong, &QAction::triggered, this, &MainWindow::takeAlong);
    connect(m_actions.bringBack, &QAction::triggered, m_bundleCommands, &BundleCommands::chooseAndBringBack);
    connect(&m_workspace->view<RunsPanel>(), &RunsPanel::takeAlongRequested, m_bundleCommands,
            &BundleCommands::takeRunAlong);
    connect(m_bundleCommands, &BundleCommands::refused, this, &MainWindow::refuse);
    connect(m_bundleCommands, &BundleCommands::noted, this, &MainWindow::note);
    connect(m_bundleCommands, &BundleCommands::told, this,
            [this](const QString& text) { m_banner->say(BannerKind::Note, text); });
    connect(m_bundleCommands, &BundleCommands::projectCame, this, &MainWindow::openProject);
}

/// What is taken is what is on the disk.
void MainWindow::takeAlong()
{
    finishTyping();
    if (m_session.isDraft() || m_session.modified()) {
        save();
    }
    if (!m_session.isDraft() && !m_session.modified()) { // else save() says why
        m_bundleCommands->takeAlong();
    }
}

void MainWindow::chooseAndOpen()
{
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a project's folder, or a run's"),
                                                             QString::fromStdString(m_folders.projects.string()));
    if (!folder.isEmpty()) {
        openProject(folder.toStdString());
    }
}

/// Opens the run's project as it is now, with the run in the list of runs.
void MainWindow::openRun(const std::filesystem::path& run)
{
    std::error_code ignored;
    std::filesystem::path directory = std::filesystem::absolute(run, ignored).lexically_normal();
    if (!directory.has_filename()) {
        directory = directory.parent_path(); // "study/a/" is "study/a"
    }
    const auto project = engine::projectDirectoryOf(directory);
    if (!project) {
        refuse(QString::fromStdString(project.error().text()));
        return;
    }
    if (const Status opened = m_session.open(*project); !opened) {
        refuse(tr("The project that this run was made from cannot be opened where the run remembers it: %1")
                   .arg(QString::fromStdString(opened.error().text())));
        return;
    }
    // Through a link a run of the project would be in the list twice.
    const std::filesystem::path runs = m_session.directory() / projects::kRunsFolder;
    if (std::filesystem::equivalent(directory.parent_path(), runs, ignored)) {
        directory = runs / directory.filename();
    }
    m_runFollower->followAlso(directory);
}

void MainWindow::askForNew()
{
    auto* dialog = new NewProjectDialog(m_engine, m_workspace->view<Inspector>().cost().deviceMemory(), this);
    connect(dialog, &NewProjectDialog::created, this, [this](const projects::Project& project) {
        if (const Status started = m_session.start({project, {}}); !started) {
            refuse(QString::fromStdString(started.error().text()));
        }
    });
    dialog->show();
}

void MainWindow::askForModel()
{
    auto* dialog = new ImportDialog(m_engine, m_folders.projects, this);
    dialog->setOpenProject([this]() -> std::optional<OntoProject> {
        const bool saved = m_session.isOpen() && !m_session.isDraft(); // a draft has no folder for the run
        return saved ? std::optional(OntoProject{m_session.project(), m_session.directory()}) : std::nullopt;
    });
    connect(dialog, &ImportDialog::loaded, this, [this](const engine::LoadWeightsReady& made) {
        m_banner->say(BannerKind::Note,
                      tr("What fits of the file is in the run %1 of step 0: resume, fork or retrofit that, for Run "
                         "trains the network from the start.")
                          .arg(QString::fromStdString(made.runDirectory.filename().string())));
    });
    connect(dialog, &ImportDialog::imported, this, [this](const engine::ImportReady& made) {
        openProject(made.projectDirectory);
        QStringList notes;
        for (const std::string& text : made.notes) {
            notes << QString::fromStdString(text);
        }
        m_banner->say(BannerKind::Note,
                      tr("Imported %1. Its weights are in the run of step 0: resume, fork or retrofit that, for Run "
                         "trains the network from the start. %2")
                          .arg(QString::fromStdString(made.architecture), notes.join(QStringLiteral("; "))));
    });
    dialog->show();
}

void MainWindow::takeUpDraft(const QString& folder)
{
    if (const Status resumed = m_session.resumeDraft(folder.toStdString()); !resumed) {
        refuse(QString::fromStdString(resumed.error().text()));
    }
}

void MainWindow::moveDraftToTrash(const Draft& draft)
{
    const auto trashed = trashDraft(draft.folder);
    m_start->refresh();
    if (!trashed) {
        refuse(QString::fromStdString(trashed.error().text()));
        return;
    }
    m_banner->say(BannerKind::Note, tr("Unsaved work on %1 lies in the trash.").arg(draft.name),
                  {{tr("Bring it back"), [this, place = *trashed] {
                        if (const Status back = restoreDraft(place); !back) {
                            refuse(QString::fromStdString(back.error().text()));
                        }
                        m_start->refresh();
                    }}});
}

void MainWindow::remember(const QString& folder)
{
    if (m_memory == Memory::UserSettings) {
        rememberProject(folder);
    }
}

void MainWindow::restoreLayout()
{
    if (m_memory == Memory::UserSettings) {
        restoreGeometry(QSettings().value(kGeometryKey).toByteArray());
        m_workspace->setExportChoice(exportChoiceOf(QSettings()));
        connect(m_workspace, &Workspace::exportChosen, this, &keep);
    }
}

void MainWindow::paintEvent(QPaintEvent* event)
{
    QMainWindow::paintEvent(event);
    if (!std::exchange(m_devicesAsked, true)) {
        // When all is painted: opening the engine keeps this thread from opening what it draws with.
        QTimer::singleShot(0, &m_engine, &EngineBridge::listDevices);
    }
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    arrangeOnce();
}

/// Not before the workspace is seen: docks that have not been laid out take no size.
void MainWindow::arrangeOnce()
{
    if (!m_arranged && isVisible() && m_pages->currentWidget() == m_workspace) {
        m_arranged = true;
        m_pages->layout()->activate(); // gives the page its size
        const QByteArray docks =
            m_memory == Memory::UserSettings ? QSettings().value(kDocksKey).toByteArray() : QByteArray();
        if (!m_workspace->rearrange(docks, DockExtents::fromSetting(QSettings().value(kExtentsKey)))) {
            m_workspace->arrange(WorkspaceView::Depth, size());
        }
    }
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (m_memory == Memory::UserSettings) {
        QSettings().setValue(kGeometryKey, saveGeometry());
        if (m_arranged) { // else they stand as the last session left them
            QSettings().setValue(kDocksKey, m_workspace->saveState());
            QSettings().setValue(kExtentsKey, m_workspace->dockExtents().toSetting());
        }
    }
    finishTyping();
    const Status kept = m_session.keepUnsaved();
    const bool comesBack = kept && !m_session.keepsDraft(); // on the next open: nothing is asked
    event->setAccepted(comesBack || m_closing == Closing::Anyway);
    if (!event->isAccepted()) {
        askBeforeClosing(kept);
    }
}

/// Where the project's folder cannot be written.
void MainWindow::askBeforeClosing(const Status& kept)
{
    const QString name = QString::fromStdString(m_session.project().name);
    const QString leave = kept ? tr("Leave; the start page offers them") : tr("Leave and lose them");
    m_banner->ask(
        kept ? tr("The changes to %1 are not saved: its folder cannot be written. They are kept apart from it.")
                   .arg(name)
             : tr("The changes to %1 can be kept nowhere: %2").arg(name, QString::fromStdString(kept.error().text())),
        {{tr("Save to another folder…"), [this] { saveAs(); }},
         {leave,
          [this] {
              m_closing = Closing::Anyway;
              close();
          }},
         {tr("Stay"), [] {}}});
}

} // namespace residua::app
