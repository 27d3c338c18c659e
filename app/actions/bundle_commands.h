// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/bundle/pack.h"
#include "engine/bundle/unpack.h"

#include <QObject>
#include <QString>

#include <filesystem>

class QWidget;

namespace residua::app {

class BringBackDialog;
class DocumentSession;
class SaveCommands;
class Workspace;
struct WindowActions;

/// Packs the open project, or one of its runs, into one file, and unpacks such files. GUI thread.
class BundleCommands : public QObject {
    Q_OBJECT
public:
    /// `projectsFolder` is the proposed place for bundles and their projects.
    BundleCommands(const WindowActions& actions, const DocumentSession& session, SaveCommands& saving,
                   Workspace& workspace, std::filesystem::path projectsFolder, QWidget* window);

    void bringBack(const std::filesystem::path& file);

signals:
    void refused(const QString& reason);
    void noted(const QString& text);
    /// Emitted with a message that needs no action by the user.
    void told(const QString& text);
    void projectCame(const std::filesystem::path& folder);

private:
    void takeAlong();
    void chooseAndBringBack();
    void take(const std::filesystem::path& source, const QString& name);
    void askWhere(const std::filesystem::path& file, const engine::BundleContents& contents);
    void tellPacked(const engine::PackedBundle& bundle, const QString& file);
    void tellUnpacked(const engine::UnpackedBundle& bundle);
    void tellNotes(const std::vector<std::string>& notes);

    const DocumentSession& m_session;
    SaveCommands& m_saving;
    std::filesystem::path m_projects;
    QWidget* m_window;
};

} // namespace residua::app
