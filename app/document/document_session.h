// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/diff/diff.h"
#include "projects/edit/history.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

class QLockFile;

namespace residua::app {

/// The origin of the open document's state.
enum class Origin {
    Saved,     ///< equal to its files
    Kept,      ///< with the changes that were unsaved when it was closed
    Recovered, ///< with the changes that were unsaved when a program died, or a resumed draft
    Unsaved,   ///< new, or an example: a draft without a place
};

/// The open document: its history, place and journal, and whether it is saved. Unsaved changes stay in the journal and
/// come back on the next open. If the project's folder cannot be written, the journal is a draft's; if that cannot be
/// written either, the document stays open. GUI thread.
class DocumentSession : public QObject {
    Q_OBJECT
public:
    /// The journals of drafts are below `draftsFolder`.
    explicit DocumentSession(std::filesystem::path draftsFolder, QObject* parent = nullptr);
    ~DocumentSession() override;

    [[nodiscard]] bool isOpen() const { return m_open; }
    [[nodiscard]] const projects::History& history() const { return m_history; }
    /// Returns the document as a view of the shown tower (projects::viewOf), which is the first one of it.
    [[nodiscard]] const projects::Document& document() const { return m_shown == 0 ? wholeDocument() : m_view; }
    [[nodiscard]] const projects::Project& project() const { return document().project; }
    /// Returns a snapshot of document(). Calls without a change between them share one copy.
    [[nodiscard]] projects::DocumentSnapshot snapshot() const;
    [[nodiscard]] projects::ProjectSnapshot projectSnapshot() const;
    /// Returns the document as it is in files and as it trains.
    [[nodiscard]] const projects::Document& wholeDocument() const { return m_history.document(); }
    [[nodiscard]] const projects::Project& wholeProject() const { return m_history.project(); }
    /// Returns the index of the shown tower (projects/nodes/towers.h), 0 of the first one.
    [[nodiscard]] std::size_t shownTower() const { return m_shown; }
    /// Shows tower `index`, or the first one if there is no such tower.
    void showTower(std::size_t index);
    /// Returns the project's directory; empty for a draft.
    [[nodiscard]] const std::filesystem::path& directory() const { return m_directory; }
    [[nodiscard]] bool isDraft() const { return m_directory.empty(); }
    [[nodiscard]] bool modified() const
    {
        return m_history.modified() || m_origin == Origin::Recovered || m_origin == Origin::Kept;
    }
    [[nodiscard]] Origin origin() const { return m_origin; }
    /// True if another Residua has the project open (openElsewhere).
    [[nodiscard]] bool isElsewhere() const { return m_elsewhere; }

    // After an error the open document stays open.

    /// Opens a project directory (or its project.json), with the changes of an existing journal; origin() is then Kept
    /// or Recovered.
    [[nodiscard]] Status open(const std::filesystem::path& path);
    /// Opens a new document without a place.
    [[nodiscard]] Status start(projects::Document document);
    /// Opens the draft that an earlier session left in `draft` (see leftDrafts).
    [[nodiscard]] Status resumeDraft(const std::filesystem::path& draft);
    /// Loads the files as one step with this title that can be undone. Drafts have no files.
    [[nodiscard]] Status load(const std::string& title);
    [[nodiscard]] Status save();
    /// Saves to `directory`, which becomes the document's place.
    [[nodiscard]] Status saveAs(const std::filesystem::path& directory);
    /// Writes unsaved changes to the journal and closes the document. After an error it stays open.
    [[nodiscard]] Status close();

    /// Applies an edit of document().
    [[nodiscard]] Status perform(const projects::Edit& edit);
    /// Applies an edit of wholeDocument().
    [[nodiscard]] Status performWhole(const projects::Edit& edit) { return m_history.perform(edit); }
    void undo();
    void redo();
    /// Returns the differences from the document to the current files, ignoring the layout.
    [[nodiscard]] Result<std::vector<projects::Change>> changesOnDisk() const;
    /// Writes the journal now if there are unsaved changes. Fails if it cannot be written anywhere (journalFailed).
    [[nodiscard]] Status keepUnsaved();
    /// Calls keepUnsaved() and ignores the error.
    void flushJournal() { static_cast<void>(keepUnsaved().ok()); }
    /// True if unsaved changes are a draft, which opening the project does not restore: its folder cannot be written.
    [[nodiscard]] bool keepsDraft() const { return m_keepsDraft && modified(); }

signals:
    /// Emitted before the document is replaced or closed, when it can be edited for the last time.
    void aboutToClose();
    /// Emitted when another document has been opened, or none is open.
    void opened();
    /// Emitted when the document's content has changed, or another tower is shown.
    void changed();
    /// Emitted before changed() if another tower is shown.
    void towerShown();
    /// Emitted when place, saved state, undo or redo have changed.
    void stateChanged();
    /// Emitted when another program has changed the files, so that they differ from those loaded or saved here.
    void changedOnDisk();
    /// Emitted when another Residua has the project open. It owns the journal there; this one is kept as a draft.
    void openElsewhere();
    /// Emitted when the journal could not be read or written.
    void journalFailed(const residua::Error& error);
    /// Emitted when the project's folder could not be written. The journal is a draft's from now on.
    void draftKept(const residua::Error& error);

private:
    void adopt(projects::Document document, Origin origin);
    void makeView();
    [[nodiscard]] const std::filesystem::path& journalFolder() const { return m_draft.empty() ? m_directory : m_draft; }
    void watchFiles();
    [[nodiscard]] std::vector<std::string> readFiles();
    void checkFiles();
    [[nodiscard]] Status writeUnsaved();
    void letGo();
    void makeDraft();
    void releasePlace();
    /// Takes the directory's lock. Returns true if a program that held it has died.
    bool takePlace(std::filesystem::path directory);
    void tellOfOthers();

    projects::History m_history;
    std::size_t m_shown = 0;
    projects::Document m_view;                         ///< of the shown tower; unused for the first one
    mutable projects::DocumentSnapshot m_viewSnapshot; ///< of m_view; null until requested
    std::filesystem::path m_draftsFolder;
    std::filesystem::path m_directory;
    std::filesystem::path m_draft;          ///< the folder of a journal that is not in the directory; else empty
    std::unique_ptr<QLockFile> m_lock;      ///< of the directory
    std::unique_ptr<QLockFile> m_draftLock; ///< of m_draft
    std::vector<std::string> m_onDisk;      ///< project.json and layout.json as last read or written here
    QFileSystemWatcher m_watcher;
    QTimer m_autosave;
    Origin m_origin = Origin::Saved;
    bool m_open = false;
    bool m_elsewhere = false;
    bool m_keepsDraft = false;
};

/// Unsaved work of a session without a place.
struct Draft {
    std::filesystem::path folder;
    QString name; ///< name of the project
    QDateTime changed;
};
/// Returns the drafts that no living session holds, newest first. Reads each one's journal.
[[nodiscard]] std::vector<Draft> leftDrafts(const std::filesystem::path& draftsFolder);
/// Removes a draft permanently.
void discardDraft(const std::filesystem::path& draft);
/// Moves a draft to the trash, out of leftDrafts(), and returns its new folder.
[[nodiscard]] Result<std::filesystem::path> trashDraft(const std::filesystem::path& draft);
/// Restores a draft that trashDraft() removed.
[[nodiscard]] Status restoreDraft(const std::filesystem::path& trashed);

/// Returns a free folder below `parent` for a project of this name. Any thread.
[[nodiscard]] std::filesystem::path freeProjectFolder(const std::filesystem::path& parent, const std::string& name);

} // namespace residua::app
