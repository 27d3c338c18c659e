// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <QObject>
#include <QString>

#include <filesystem>

class QWidget;

namespace residua::app {

class Banner;
class DocumentSession;
struct WindowActions;

/// Keeps the open document: saves it, goes back to what its files say, and asks what is to become of changes that were
/// recovered, that another program made, or that can be kept nowhere. GUI thread.
class SaveCommands : public QObject {
    Q_OBJECT
public:
    /// `projectsFolder`: where a project without a place is saved.
    SaveCommands(const WindowActions& actions, DocumentSession& session, Banner& banner,
                 std::filesystem::path projectsFolder, QWidget* window);

    /// The banner says that the document which was just opened is unsaved work that was recovered, where it is.
    void tellRecovered();
    /// Whether the document's files say what it is, once it has been saved where they did not.
    [[nodiscard]] bool saveChanges();
    /// Keeps what is unsaved for the next start. False: it cannot be, and the banner asks what to do.
    [[nodiscard]] bool mayClose();

signals:
    void noted(const QString& text);

private:
    void connectSession();
    void save();
    void saveAs();
    void saveTo(const std::filesystem::path& folder);
    void revert();
    void load(const QString& title);
    void offerReload();
    void askBeforeReplacing();
    void askBeforeClosing(const Status& kept);

    DocumentSession& m_session;
    Banner& m_banner;
    std::filesystem::path m_projects;
    QWidget* m_window;
    bool m_filesChanged = false; ///< by another program, and nobody has said yet what becomes of it
    bool m_closes = false;       ///< whatever becomes of the changes
};

} // namespace residua::app
