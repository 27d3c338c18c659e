// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions/open_commands.h"

#include "app/actions/window_actions.h"
#include "app/inspector/cost_view.h"
#include "app/inspector/inspector.h"
#include "app/look/field_row.h"
#include "app/look/path_kind.h"
#include "app/start/import_dialog.h"
#include "app/start/new_project_dialog.h"
#include "app/start/start_page.h"
#include "app/workspace/banner.h"
#include "app/workspace/workspace.h"
#include "engine/base/api/environment.h"
#include "engine/link/bundle/bundle_contents.h"
#include "engine/runs/results/run_groups.h"
#include "engine/runs/results/run_reader.h"
#include "engine/runs/results/study_page.h"
#include "projects/base/ranges.h"
#include "projects/base/text.h"
#include "projects/file/store.h"
#include "projects/shipped/examples.h"

#include <QDir>
#include <QDropEvent>
#include <QFileDialog>
#include <QMenu>

#include <optional>

namespace residua::app {

OpenCommands::OpenCommands(const WindowParts& parts)
    : CommandGroup(parts), m_start(parts.start), m_examples(m_menus.examples), m_recent(m_menus.recent)
{
    connect(m_actions.create, &QAction::triggered, this, [this] { askForNew({}); });
    connect(m_actions.open, &QAction::triggered, this, &OpenCommands::chooseAndOpen);
    connect(m_actions.import, &QAction::triggered, this, [this] { askForModel({}); });
    connect(m_recent, &QMenu::aboutToShow, this, &OpenCommands::fillRecent);
    connectStartPage();
    fillExamples();
    m_window->setAcceptDrops(true);
    m_window->installEventFilter(this);
}

bool OpenCommands::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() != QEvent::DragEnter && event->type() != QEvent::Drop) {
        return QObject::eventFilter(watched, event);
    }
    auto* const drop = static_cast<QDropEvent*>(event);
    const QStringList paths = pathsIn(*drop);
    if (paths.isEmpty()) {
        return false;
    }
    drop->acceptProposedAction();
    if (event->type() == QEvent::Drop && paths.size() > 1) {
        refuse(
            Error{std::to_string(paths.size()) + " files", "were dropped; expected one, or a folder that holds them"});
    } else if (event->type() == QEvent::Drop) {
        takeDropped(paths.front().toStdString());
    }
    return true;
}

void OpenCommands::takeDropped(const std::filesystem::path& path)
{
    if (engine::isPageFile(path)) {
        open(path);
        return;
    }
    switch (pathKindOf(path)) {
    case PathKind::Run:
        open(path.filename() == engine::kRunFile ? path.parent_path() : path);
        return;
    case PathKind::Project:
    case PathKind::Bundle:
        open(path);
        return;
    case PathKind::Tensors:
        emit tensorsGiven(path);
        return;
    case PathKind::Model:
        askForModel(QString::fromStdString(path.string()));
        return;
    case PathKind::Picture:
        m_banner.refuse(tr("%1 is one picture. Drop it on Samples to let a run classify it, or drop the folder that "
                           "holds the folders of its classes to make a project.")
                            .arg(QString::fromStdString(path.filename().string())));
        return;
    case PathKind::File:
    case PathKind::Folder:
        askForNew(QString::fromStdString(path.string()));
    }
}

void OpenCommands::connectStartPage()
{
    connect(&m_start, &StartPage::exampleChosen, this,
            [this](const QString& name) { refuse(openExample(name.toStdString())); });
    connect(&m_start, &StartPage::newRequested, this, [this] { askForNew({}); });
    connect(&m_start, &StartPage::openRequested, this, &OpenCommands::chooseAndOpen);
    connect(&m_start, &StartPage::projectChosen, this, [this](const QString& folder) { open(folder.toStdString()); });
    connect(&m_start, &StartPage::draftChosen, this, &OpenCommands::takeUpDraft);
    connect(&m_start, &StartPage::draftDiscarded, this, &OpenCommands::moveDraftToTrash);
}

void OpenCommands::fillExamples()
{
    for (const projects::ExampleCard& card : projects::exampleCards()) {
        QAction* action = m_examples->addAction(QString::fromUtf8(card.title));
        action->setStatusTip(QString::fromUtf8(card.summary));
        connect(action, &QAction::triggered, this, [this, name = card.name] { refuse(openExample(name)); });
    }
}

void OpenCommands::fillRecent()
{
    m_recent->clear();
    for (const QString& folder : recentProjects()) {
        QAction* action = m_recent->addAction(QDir::toNativeSeparators(folder));
        connect(action, &QAction::triggered, this, [this, folder] { open(folder.toStdString()); });
    }
    if (m_recent->isEmpty()) {
        m_recent->addAction(tr("none yet"))->setEnabled(false);
    }
}

void OpenCommands::refuse(const Status& status)
{
    if (!status) {
        m_banner.refuse(QString::fromStdString(status.error().text()));
    }
}

void OpenCommands::open(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (path.extension() == engine::kBundleSuffix && std::filesystem::is_regular_file(path, ignored)) {
        emit bundleGiven(path);
        return;
    }
    refuse(engine::isPageFile(path) ? openPage(path) : openFolder(path));
}

/// Opens the project that the page belongs to, unless it is open.
Status OpenCommands::openPage(const std::filesystem::path& file)
{
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file, ignored).lexically_normal().parent_path();
    if (engine::groupsFolderOf(folder) != folder) {
        return Error{file.string(), "is a page outside of a project; expected it in the project's folder of runs"};
    }
    RESIDUA_TRY(engine::readPage(file));
    if (!m_session.isOpen() || !std::filesystem::equivalent(m_session.directory(), folder.parent_path(), ignored)) {
        RESIDUA_TRY(m_session.open(folder.parent_path()));
    }
    emit pageGiven(QString::fromStdString(engine::pageName(file)));
    return Done{};
}

Status OpenCommands::openFolder(const std::filesystem::path& folder)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(folder / engine::kRunFile, ignored) ? openRun(folder)
                                                                                : m_session.open(folder);
}

/// Opens the run's current project, and shows the run in the list of runs.
Status OpenCommands::openRun(const std::filesystem::path& run)
{
    std::error_code ignored;
    std::filesystem::path directory = std::filesystem::absolute(run, ignored).lexically_normal();
    if (!directory.has_filename()) {
        directory = directory.parent_path(); // removes the slash at the end of "study/a/"
    }
    const auto project = RESIDUA_TRY(engine::projectDirectoryOf(directory));
    if (const Status opened = m_session.open(project); !opened) {
        return Error{"", tr("The project that this run was made from cannot be opened where the run remembers it: %1")
                             .arg(QString::fromStdString(opened.error().text()))
                             .toStdString()};
    }
    // Through a link, a run of the project would be listed twice.
    const std::filesystem::path runs = m_session.directory() / projects::kRunsFolder;
    if (std::filesystem::equivalent(directory.parent_path(), runs, ignored)) {
        directory = runs / directory.filename();
    }
    emit runOpened(directory);
    return Done{};
}

Status OpenCommands::openExample(const std::string& name)
{
    const projects::Example* example = projects::findExample(name);
    if (!example) {
        return Error{name,
                     "is no example; there are " + joinedText(projects::examples(), ", ", &projects::Example::name)};
    }
    return m_session.start({example->project, {}});
}

void OpenCommands::chooseAndOpen()
{
    const QString folder = QFileDialog::getExistingDirectory(m_window, tr("Open a project's folder, or a run's"),
                                                             QString::fromStdString(m_folders.projects.string()));
    if (!folder.isEmpty()) {
        open(folder.toStdString());
    }
}

void OpenCommands::askForNew(const QString& data)
{
    auto* dialog = new NewProjectDialog(m_engine, m_workspace.view<Inspector>().cost().device(), m_window);
    connect(dialog, &NewProjectDialog::created, this, [this](const projects::Project& project) {
        refuse(m_session.start({project, {}}));
    });
    if (!data.isEmpty()) {
        dialog->setData(data);
    }
    dialog->show();
}

void OpenCommands::askForModel(const QString& model)
{
    auto* dialog = new ImportDialog(m_engine, m_folders.projects, m_window);
    if (!model.isEmpty()) {
        dialog->setFolder(model);
    }
    connect(dialog, &ImportDialog::fileChosen, this, &OpenCommands::tensorsGiven);
    connect(dialog, &ImportDialog::imported, this, [this](const engine::ImportReady& made) {
        open(made.projectDirectory);
        auto notes = mapped<QStringList>(made.notes, QString::fromStdString);
        m_banner.say(BannerKind::Note,
                     tr("Imported %1. Its weights are in the run of step 0: resume, fork or retrofit that, for Run "
                        "trains the network from the start. %2")
                         .arg(QString::fromStdString(made.architecture), notes.join(QStringLiteral("; "))));
    });
    dialog->show();
}

void OpenCommands::takeUpDraft(const QString& folder)
{
    refuse(m_session.resumeDraft(folder.toStdString()));
}

void OpenCommands::moveDraftToTrash(const Draft& draft)
{
    const auto trashed = trashDraft(draft.folder);
    m_start.refresh();
    if (!trashed) {
        refuse(trashed.error());
        return;
    }
    m_banner.say(BannerKind::Note, tr("Unsaved work on %1 lies in the trash.").arg(draft.name),
                 {{tr("Bring it back"), [this, place = *trashed] {
                       refuse(restoreDraft(place));
                       m_start.refresh();
                   }}});
}

} // namespace residua::app
