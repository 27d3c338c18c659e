// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/document/document_session.h"

#include "projects/store.h"

#include <QFileInfo>
#include <QLockFile>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace residua::app {

namespace {

constexpr int kAutosaveMilliseconds = 2000;
constexpr const char* kLockName = ".residua.lock";

QString toQString(const std::filesystem::path& path)
{
    return QString::fromStdString(path.string());
}

/// Whether a living session holds the folder.
std::unique_ptr<QLockFile> tryLock(const std::filesystem::path& folder)
{
    auto lock = std::make_unique<QLockFile>(toQString(folder / kLockName));
    lock->setStaleLockTime(0); // only a dead holder's lock is stale
    return lock->tryLock(0) ? std::move(lock) : nullptr;
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
        // Not restarted by further changes: the journal is never older than the interval.
        if (m_open && !m_autosave.isActive()) {
            m_autosave.start();
        }
        emit changed();
        emit stateChanged();
    });
}

DocumentSession::~DocumentSession()
{
    flushJournal();
}

Status DocumentSession::open(const std::filesystem::path& path)
{
    std::filesystem::path directory = path;
    if (directory.filename() == projects::kProjectFile) {
        directory = directory.parent_path();
    }
    std::error_code ignored;
    directory = std::filesystem::absolute(directory, ignored).lexically_normal();
    auto saved = projects::loadProject(directory);
    if (!saved) {
        return saved.error();
    }
    auto journal = projects::readJournal(directory);
    const bool recovered = journal && journal->has_value();
    adopt(recovered ? std::move(**journal) : std::move(*saved), std::move(directory),
          recovered ? Origin::Recovered : Origin::Saved);
    if (!journal) { // what is saved opens all the same
        emit journalFailed(journal.error());
    }
    return Done{};
}

void DocumentSession::start(projects::Document document)
{
    adopt(std::move(document), {}, Origin::Unsaved);
}

Status DocumentSession::resumeDraft(const std::filesystem::path& draft)
{
    auto journal = projects::readJournal(draft);
    if (!journal) {
        return journal.error();
    }
    if (!journal->has_value()) {
        return Error{draft.string(), "holds no unsaved work"};
    }
    adopt(std::move(**journal), {}, Origin::Recovered);
    flushJournal();
    discardDraft(draft);
    return Done{};
}

Status DocumentSession::revert()
{
    auto saved = projects::loadProject(m_directory);
    if (!saved) {
        return saved.error();
    }
    if (const Status removed = projects::removeJournal(m_directory); !removed) {
        return removed;
    }
    m_autosave.stop();
    m_origin = Origin::Saved;
    m_history.reset(std::move(*saved));
    m_autosave.stop();
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
    if (const Status saved = projects::saveProject(directory, document()); !saved) {
        return saved;
    }
    m_autosave.stop();
    if (directory != m_directory) {
        releasePlace();
        m_directory = directory;
        lockPlace(directory);
    }
    m_origin = Origin::Saved;
    m_history.markSaved();
    watchFiles();
    emit stateChanged();
    return Done{};
}

void DocumentSession::close()
{
    if (!m_open) {
        return;
    }
    flushJournal();
    const bool keepDraft = isDraft() && modified();
    m_open = false;
    m_lock.reset();
    if (isDraft() && !keepDraft) {
        discardDraft(m_draft);
    }
    m_directory.clear();
    m_draft.clear();
    watchFiles();
    m_history.reset({});
    m_history.markSaved();
    m_origin = Origin::Saved;
    emit opened();
    emit stateChanged();
}

Status DocumentSession::perform(const projects::Edit& edit)
{
    return m_history.perform(edit);
}

Status DocumentSession::performMerging(const projects::Edit& edit, const std::string& mergeKey)
{
    return m_history.performMerging(edit, mergeKey);
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
    const auto saved = projects::loadProject(m_directory);
    if (!saved) {
        return saved.error();
    }
    return projects::diff(project(), saved->project);
}

void DocumentSession::flushJournal()
{
    m_autosave.stop();
    if (!m_open) {
        return;
    }
    const Status written =
        modified() ? projects::writeJournal(journalFolder(), document()) : projects::removeJournal(journalFolder());
    if (!written) {
        emit journalFailed(written.error());
    }
}

void DocumentSession::adopt(projects::Document document, std::filesystem::path directory, Origin origin)
{
    close();
    m_directory = std::move(directory);
    m_origin = origin;
    if (isDraft()) {
        m_draft = m_draftsFolder / QUuid::createUuid().toString(QUuid::WithoutBraces).toStdString();
        std::error_code ignored; // a failure shows when the journal is written
        std::filesystem::create_directories(m_draft, ignored);
    }
    m_history.reset(std::move(document));
    m_history.markSaved();
    m_open = true;
    lockPlace(journalFolder());
    watchFiles();
    emit opened();
    emit stateChanged();
}

void DocumentSession::lockPlace(const std::filesystem::path& folder)
{
    m_lock = tryLock(folder);
    std::error_code ignored;
    if (!m_lock && std::filesystem::exists(folder / kLockName, ignored)) {
        emit openElsewhere();
    }
}

void DocumentSession::releasePlace()
{
    m_lock.reset();
    if (isDraft()) {
        discardDraft(m_draft);
        m_draft.clear();
    }
}

void DocumentSession::watchFiles()
{
    if (const QStringList watched = m_watcher.files(); !watched.isEmpty()) {
        m_watcher.removePaths(watched);
    }
    m_onDisk.clear();
    if (!m_open || isDraft()) {
        return;
    }
    const std::filesystem::path file = m_directory / projects::kProjectFile;
    if (auto bytes = projects::readFile(file)) {
        m_onDisk = std::move(*bytes);
        m_watcher.addPath(toQString(file));
    }
}

void DocumentSession::checkFiles()
{
    const std::filesystem::path file = m_directory / projects::kProjectFile;
    const auto bytes = projects::readFile(file);
    if (bytes) {
        m_watcher.addPath(toQString(file)); // a rename over the file ends the watch
    }
    if (bytes && *bytes != m_onDisk) {
        m_onDisk = *bytes;
        emit changedOnDisk();
    }
}

std::vector<Draft> leftDrafts(const std::filesystem::path& draftsFolder)
{
    std::vector<Draft> drafts;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(draftsFolder, ignored)) {
        if (!entry.is_directory(ignored) || !tryLock(entry.path())) {
            continue;
        }
        const auto journal = projects::readJournal(entry.path());
        if (journal && journal->has_value()) {
            const QFileInfo file(toQString(entry.path() / projects::kJournalFile));
            drafts.push_back({entry.path(), QString::fromStdString((*journal)->project.name), file.lastModified()});
        }
    }
    std::sort(drafts.begin(), drafts.end(), [](const Draft& a, const Draft& b) { return a.changed > b.changed; });
    return drafts;
}

void discardDraft(const std::filesystem::path& draft)
{
    std::error_code ignored; // what cannot be removed is offered again
    std::filesystem::remove_all(draft, ignored);
}

} // namespace residua::app
