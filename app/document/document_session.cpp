// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/document_session.h"

#include "projects/base/text.h"
#include "projects/base/whole_file.h"
#include "projects/file/store.h"
#include "projects/nodes/towers.h"

#include <QFileInfo>
#include <QLockFile>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace residua::app {
namespace {

constexpr int kAutosaveMilliseconds = 2000;
constexpr const char* kLockName = ".residua.lock";
constexpr const char* kTrash = ".trash"; ///< below the drafts' folder

QString toQString(const std::filesystem::path& path)
{
    return QString::fromStdString(path.string());
}

/// Returns null if a living session holds the folder.
std::unique_ptr<QLockFile> tryLock(const std::filesystem::path& folder)
{
    auto lock = std::make_unique<QLockFile>(toQString(folder / kLockName));
    lock->setStaleLockTime(0); // a lock is stale only if its holder has died
    return lock->tryLock(0) ? std::move(lock) : nullptr;
}

/// Returns a folder name in which characters that are special to file systems and shells are dashes.
std::string folderName(const std::string& name)
{
    QString folder = QString::fromStdString(name).simplified();
    for (QChar& c : folder) {
        if (!c.isLetterOrNumber() && c != QLatin1Char('-') && c != QLatin1Char('_') && c != QLatin1Char('.')) {
            c = QLatin1Char('-');
        }
    }
    while (folder.startsWith(QLatin1Char('.'))) {
        folder.remove(0, 1);
    }
    return folder.isEmpty() ? "project" : folder.toStdString();
}

} // namespace

DocumentSession::DocumentSession(std::filesystem::path draftsFolder, QObject* parent)
    : QObject(parent), m_draftsFolder(std::move(draftsFolder))
{
    m_autosave.setSingleShot(true);
    m_autosave.setInterval(kAutosaveMilliseconds);
    connect(&m_autosave, &QTimer::timeout, this, &DocumentSession::flushJournal);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &DocumentSession::checkFiles);
    m_history.onChanged([this] {
        // Not restarted by further changes, so that the journal is never older than the interval.
        if (m_open && !m_autosave.isActive()) {
            m_autosave.start();
        }
        makeView();
        emit changed();
        emit stateChanged();
    });
}

DocumentSession::~DocumentSession()
{
    flushJournal();
    if (m_open && !modified()) {
        releasePlace();
    }
}

Status DocumentSession::open(const std::filesystem::path& path)
{
    std::filesystem::path directory = path;
    if (directory.filename() == projects::kProjectFile) {
        directory = directory.parent_path();
    }
    std::error_code ignored;
    directory = std::filesystem::absolute(directory, ignored).lexically_normal();
    auto saved = RESIDUA_TRY(projects::loadProject(directory));
    if (Status closed = close(); !closed) { // its journal may be the one to be read now
        return closed;
    }
    const Origin ofJournal = takePlace(directory) ? Origin::Recovered : Origin::Kept;
    auto journal = m_draft.empty() ? projects::readJournal(directory) : std::optional<projects::Document>();
    const bool unsaved = journal && journal->has_value();
    adopt(unsaved ? std::move(**journal) : std::move(saved), unsaved ? ofJournal : Origin::Saved);
    if (!journal) { // the saved document is opened nevertheless
        emit journalFailed(journal.error());
    }
    tellOfOthers();
    return Done{};
}

Status DocumentSession::start(projects::Document document)
{
    RESIDUA_TRY(close());
    takePlace({});
    adopt(std::move(document), Origin::Unsaved);
    return Done{};
}

Status DocumentSession::resumeDraft(const std::filesystem::path& draft)
{
    auto journal = RESIDUA_TRY(projects::readJournal(draft));
    if (!journal.has_value()) {
        return Error{draft.string(), "holds no unsaved work"};
    }
    RESIDUA_TRY(close());
    takePlace({});
    adopt(std::move(*journal), Origin::Recovered);
    if (keepUnsaved()) {
        discardDraft(draft);
    }
    return Done{};
}

Status DocumentSession::load(const std::string& title)
{
    auto saved = RESIDUA_TRY(projects::loadProject(m_directory));
    m_origin = Origin::Saved;
    m_history.replace(std::move(saved), title);
    m_history.markSaved();
    flushJournal();
    watchFiles();
    emit stateChanged();
    return Done{};
}

Status DocumentSession::save()
{
    if (isDraft()) {
        return Error{project().name, "has no place yet: save it to a folder first"};
    }
    return saveAs(m_directory);
}

Status DocumentSession::saveAs(const std::filesystem::path& directory)
{
    RESIDUA_TRY(projects::saveProject(directory, wholeDocument()));
    m_autosave.stop();
    const bool moved = directory != m_directory;
    if (moved && !isDraft() && !m_elsewhere) { // its content is saved in the new place
        static_cast<void>(projects::removeJournal(m_directory).ok());
    }
    if (moved || m_keepsDraft) { // a writable folder gets its journal again
        releasePlace();
        takePlace(directory);
    }
    m_origin = Origin::Saved;
    m_history.markSaved();
    flushJournal();
    watchFiles();
    emit stateChanged();
    if (moved) {
        tellOfOthers();
    }
    return Done{};
}

Status DocumentSession::close()
{
    if (!m_open) {
        return Done{};
    }
    emit aboutToClose();
    RESIDUA_TRY(keepUnsaved());
    letGo();
    return Done{};
}

void DocumentSession::letGo()
{
    m_open = false;
    if (modified()) {
        m_draft.clear(); // unsaved changes stay in the draft
    }
    releasePlace();
    m_directory.clear();
    watchFiles();
    m_shown = 0;
    m_history.reset({});
    m_history.markSaved();
    m_origin = Origin::Saved;
    emit opened();
    emit stateChanged();
}

Status DocumentSession::perform(const projects::Edit& edit)
{
    return m_history.perform(m_shown == 0 ? edit : projects::Edit(projects::EditGroup{titleOf(edit), {edit}, m_shown}));
}

projects::DocumentSnapshot DocumentSession::snapshot() const
{
    if (m_shown == 0) {
        return m_history.snapshot();
    }
    if (!m_viewSnapshot) {
        m_viewSnapshot = std::make_shared<const projects::Document>(m_view);
    }
    return m_viewSnapshot;
}

projects::ProjectSnapshot DocumentSession::projectSnapshot() const
{
    const projects::DocumentSnapshot document = snapshot();
    return {document, &document->project};
}

void DocumentSession::showTower(std::size_t index)
{
    const std::size_t known = index < projects::towerCount(wholeProject()) ? index : 0;
    if (std::exchange(m_shown, known) != known) {
        makeView();
        emit towerShown();
        emit changed();
    }
}

/// Makes the view of the shown tower, or shows the first one if there is no such tower.
void DocumentSession::makeView()
{
    m_viewSnapshot.reset();
    const bool isGone = m_shown >= projects::towerCount(wholeProject());
    m_shown = isGone ? 0 : m_shown;
    m_view = m_shown == 0 ? projects::Document() : wholeDocument();
    projects::showTower(m_view, m_shown);
    if (isGone) {
        emit towerShown();
    }
}

void DocumentSession::undo()
{
    if (m_history.canUndo()) {
        m_history.undo();
    }
}

void DocumentSession::redo()
{
    if (m_history.canRedo()) {
        m_history.redo();
    }
}

Result<std::vector<projects::Change>> DocumentSession::changesOnDisk() const
{
    const auto saved = RESIDUA_TRY(projects::loadProject(m_directory));
    return projects::diff(wholeProject(), saved.project);
}

Status DocumentSession::keepUnsaved()
{
    m_autosave.stop();
    if (!m_open) {
        return Done{};
    }
    Status written = modified() ? writeUnsaved() : projects::removeJournal(journalFolder());
    if (!written) {
        emit journalFailed(written.error());
    }
    return modified() ? written : Done{};
}

Status DocumentSession::writeUnsaved()
{
    const Status written = projects::writeJournal(journalFolder(), wholeDocument());
    if (written || !m_draft.empty()) {
        return written;
    }
    makeDraft();
    if (const Status kept = projects::writeJournal(m_draft, wholeDocument()); !kept) {
        m_draftLock.reset();
        discardDraft(std::exchange(m_draft, {}));
        return Error{written.error().place, written.error().message + "; as a draft: " + kept.error().text()};
    }
    m_keepsDraft = true;
    emit draftKept(written.error());
    return Done{};
}

void DocumentSession::adopt(projects::Document document, Origin origin)
{
    m_origin = origin;
    m_shown = 0;
    m_history.reset(std::move(document));
    m_history.markSaved();
    m_open = true;
    watchFiles();
    emit opened();
    emit stateChanged();
}

/// `directory` is empty for a document without a place. Closing a document removes its lock, so an existing lock that
/// can be taken belongs to a program that died.
bool DocumentSession::takePlace(std::filesystem::path directory)
{
    m_directory = std::move(directory);
    bool died = false;
    if (!isDraft()) {
        std::error_code ignored;
        const bool locked = std::filesystem::exists(m_directory / kLockName, ignored);
        m_lock = tryLock(m_directory);
        died = locked && m_lock;
        m_elsewhere = !m_lock && std::filesystem::exists(m_directory / kLockName, ignored); // else a read-only folder
    }
    if (isDraft() || m_elsewhere) {
        makeDraft();
    }
    return died;
}

void DocumentSession::makeDraft()
{
    m_draft = m_draftsFolder / QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
    std::error_code ignored; // a failure is reported when the journal is written
    std::filesystem::create_directories(m_draft, ignored);
    m_draftLock = tryLock(m_draft);
}

void DocumentSession::releasePlace()
{
    m_lock.reset();
    m_draftLock.reset();
    m_elsewhere = m_keepsDraft = false;
    if (!m_draft.empty()) {
        discardDraft(m_draft);
        m_draft.clear();
    }
}

void DocumentSession::tellOfOthers()
{
    if (isElsewhere()) {
        emit openElsewhere();
    }
}

void DocumentSession::watchFiles()
{
    if (const QStringList watched = m_watcher.files(); !watched.isEmpty()) {
        m_watcher.removePaths(watched);
    }
    m_onDisk.clear();
    if (m_open && !isDraft()) {
        m_onDisk = readFiles();
    }
}

/// Reads the project's files, and watches them again, because a rename over a file ends its watch.
std::vector<std::string> DocumentSession::readFiles()
{
    std::vector<std::string> files;
    for (const char* name : {projects::kProjectFile, projects::kLayoutFile}) {
        const std::filesystem::path file = m_directory / name;
        auto bytes = readFile(file);
        if (bytes) {
            m_watcher.addPath(toQString(file));
        }
        files.push_back(bytes ? std::move(*bytes) : std::string());
    }
    return files;
}

void DocumentSession::checkFiles()
{
    auto files = readFiles();
    if (!files.front().empty() && files != m_onDisk) { // otherwise partly written, or deleted
        m_onDisk = std::move(files);
        emit changedOnDisk();
    }
}

std::vector<Draft> leftDrafts(const std::filesystem::path& draftsFolder)
{
    std::vector<Draft> drafts;
    std::error_code failed; // there is no folder if there is no draft
    for (std::filesystem::directory_iterator entry(draftsFolder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code gone;
        const std::filesystem::path& draft = entry->path();
        if (!entry->is_directory(gone) || draft.filename() == kTrash || !tryLock(draft)) {
            continue;
        }
        const auto journal = projects::readJournal(draft);
        if (journal && journal->has_value()) {
            const QFileInfo file(toQString(draft / projects::kJournalFile));
            drafts.push_back({draft, QString::fromStdString((*journal)->project.name), file.lastModified()});
        }
    }
    std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) { return a.changed > b.changed; });
    return drafts;
}

Result<std::filesystem::path> trashDraft(const std::filesystem::path& draft)
{
    const std::filesystem::path trashed = draft.parent_path() / kTrash / draft.filename();
    std::error_code error;
    std::filesystem::create_directories(trashed.parent_path(), error);
    std::filesystem::rename(draft, trashed, error);
    if (error) {
        return Error{draft.string(), "cannot be moved to the trash: " + error.message()};
    }
    return trashed;
}

Status restoreDraft(const std::filesystem::path& trashed)
{
    std::error_code error;
    std::filesystem::rename(trashed, trashed.parent_path().parent_path() / trashed.filename(), error);
    return error ? Status(Error{trashed.string(), "cannot be brought back: " + error.message()}) : Status(Done{});
}

void discardDraft(const std::filesystem::path& draft)
{
    std::error_code ignored; // a draft that cannot be removed is offered again
    std::filesystem::remove_all(draft, ignored);
}

std::filesystem::path freeProjectFolder(const std::filesystem::path& parent, const std::string& name)
{
    return freePath(parent / folderName(name));
}

} // namespace residua::app
