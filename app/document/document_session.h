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

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QLockFile;

namespace residua::app {

/// How an open document came to be as it is.
enum class Origin {
    Saved,     ///< as its files say
    Kept,      ///< with the changes that were unsaved when it was closed
    Recovered, ///< with the changes that were unsaved when the program that had it open died; or a draft taken up
    Unsaved,   ///< new, or an example: a draft that has no place of its own yet
};

/// The open document: its history, where it lives, whether it is saved, and its journal. Unsaved changes stay in the
/// journal and come back on the next open. Where the project's folder cannot be written the journal is a draft's; where
/// that cannot be written either, the document stays open. GUI thread.
class DocumentSession : public QObject {
    Q_OBJECT
public:
    /// Drafts keep their journals below `draftsFolder`.
    explicit DocumentSession(std::filesystem::path draftsFolder, QObject* parent = nullptr);
    ~DocumentSession() override;

    [[nodiscard]] bool isOpen() const { return m_open; }
    [[nodiscard]] const projects::History& history() const { return m_history; }
    [[nodiscard]] const projects::Document& document() const { return m_history.document(); }
    [[nodiscard]] const projects::Project& project() const { return m_history.project(); }
    /// The project's directory; empty for a draft.
    [[nodiscard]] const std::filesystem::path& directory() const { return m_directory; }
    [[nodiscard]] bool isDraft() const { return m_directory.empty(); }
    [[nodiscard]] bool modified() const
    {
        return m_history.modified() || m_origin == Origin::Recovered || m_origin == Origin::Kept;
    }
    [[nodiscard]] Origin origin() const { return m_origin; }
    /// Whether another Residua has the project open (openElsewhere).
    [[nodiscard]] bool isElsewhere() const { return m_elsewhere; }

    // On error the open document stays.

    /// Opens a project directory (or its project.json). A journal that is left there is taken up: origin()
    /// then says Kept or Recovered.
    [[nodiscard]] Status open(const std::filesystem::path& path);
    /// Opens a new document that has no place yet.
    [[nodiscard]] Status start(projects::Document document);
    /// Takes up the draft that an earlier session left in `draft` (see leftDrafts).
    [[nodiscard]] Status resumeDraft(const std::filesystem::path& draft);
    /// Goes to what the files say, in one step of that title that can be undone. Drafts have no files.
    [[nodiscard]] Status load(const std::string& title);
    [[nodiscard]] Status save();
    /// Saves to `directory`, which becomes the document's place.
    [[nodiscard]] Status saveAs(const std::filesystem::path& directory);
    /// Journals what is unsaved and lets go of the document. On error it stays open.
    [[nodiscard]] Status close();

    [[nodiscard]] Status perform(const projects::Edit& edit);
    void undo();
    void redo();
    /// The differences from the document to what the files say now; the layout does not count.
    [[nodiscard]] Result<std::vector<projects::Change>> changesOnDisk() const;
    /// Writes the journal now, where something is unsaved. Error: it can be kept nowhere (journalFailed).
    [[nodiscard]] Status keepUnsaved();
    /// keepUnsaved() for callers who cannot do anything about an error.
    void flushJournal() { static_cast<void>(keepUnsaved().ok()); }
    /// Whether unsaved changes are kept as a draft because the project's folder could not be written: opening the
    /// project does not bring them back.
    [[nodiscard]] bool keepsDraft() const { return m_keepsDraft && modified(); }

signals:
    /// Another document comes, or none, and this one can be edited for the last time.
    void aboutToClose();
    /// Another document is open, or none.
    void opened();
    /// The document's content changed.
    void changed();
    /// Place, saved state, undo or redo changed.
    void stateChanged();
    /// The files were changed by another program and differ from what was loaded or saved here.
    void changedOnDisk();
    /// Another Residua has the same project open: the journal there is that one's, ours is kept as a draft.
    void openElsewhere();
    /// The journal could not be read or written.
    void journalFailed(const residua::Error& error);
    /// The project's folder could not be written: the journal is a draft's from now on.
    void draftKept(const residua::Error& error);

private:
    void adopt(projects::Document document, Origin origin);
    [[nodiscard]] const std::filesystem::path& journalFolder() const { return m_draft.empty() ? m_directory : m_draft; }
    void watchFiles();
    [[nodiscard]] std::vector<std::string> readFiles();
    void checkFiles();
    [[nodiscard]] Status writeUnsaved();
    void letGo();
    void makeDraft();
    void releasePlace();
    /// Takes the directory's lock. Returns true if a program that held it died.
    bool takePlace(std::filesystem::path directory);
    void tellOfOthers();

    projects::History m_history;
    std::filesystem::path m_draftsFolder;
    std::filesystem::path m_directory;
    std::filesystem::path m_draft;          ///< where the journal is that has no place in the directory; else empty
    std::unique_ptr<QLockFile> m_lock;      ///< of the directory
    std::unique_ptr<QLockFile> m_draftLock; ///< of m_draft
    std::vector<std::string> m_onDisk;      ///< project.json and layout.json as they were last read or written here
    QFileSystemWatcher m_watcher;
    QTimer m_autosave;
    Origin m_origin = Origin::Saved;
    bool m_open = false;
    bool m_elsewhere = false;
    bool m_keepsDraft = false;
};

/// Work that a session left unsaved and without a place.
struct Draft {
    std::filesystem::path folder;
    QString name; ///< the project's
    QDateTime changed;
};
/// The drafts that no living session holds, newest first. Reads each one's journal.
[[nodiscard]] std::vector<Draft> leftDrafts(const std::filesystem::path& draftsFolder);
/// Removes a draft for good.
void discardDraft(const std::filesystem::path& draft);
/// Takes a draft out of leftDrafts(), and tells where it lies now.
[[nodiscard]] Result<std::filesystem::path> trashDraft(const std::filesystem::path& draft);
/// Puts a draft that trashDraft() took out back.
[[nodiscard]] Status restoreDraft(const std::filesystem::path& trashed);

} // namespace residua::app
