// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/document/document_session.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <string>

class QMenu;
class QWidget;

namespace residua::app {

class Banner;
class EngineBridge;
class StartPage;
class Workspace;
struct WindowActions;
struct WindowMenus;

/// Brings a document into the window: from a folder, an example, the dialog of a new project, a model that is imported,
/// or work that an earlier session left unsaved. GUI thread.
class OpenCommands : public QObject {
    Q_OBJECT
public:
    /// `projectsFolder`: where projects are looked for, and where imported models go.
    OpenCommands(const WindowActions& actions, const WindowMenus& menus, DocumentSession& session, EngineBridge& engine,
                 Workspace& workspace, StartPage& start, Banner& banner, std::filesystem::path projectsFolder,
                 QWidget* window);

    /// A project's folder; a run's, which opens its project and is shown there wherever it lies; or a bundle, which is
    /// unpacked as the user says. The banner says what goes wrong.
    void open(const std::filesystem::path& path);
    /// The same for a project's folder or a run's.
    [[nodiscard]] Status openFolder(const std::filesystem::path& folder);
    /// Opens a copy of an example as an unsaved project; an unknown name is an error that lists those there are.
    [[nodiscard]] Status openExample(const std::string& name);
    /// Lists the recent projects in their menu, which does so by itself only where it is opened.
    void fillRecent();
    /// Opens what was dropped on the window: besides what open() takes, the folder of a model or a file of tensors,
    /// which begins an import, and a text or another file or folder of data, which begins a new project.
    void takeDropped(const std::filesystem::path& path);

signals:
    void bundleGiven(const std::filesystem::path& file);
    /// The project of a run was opened through it. `run` is absolute, without "..".
    void runOpened(const std::filesystem::path& run);

protected:
    /// The window takes drops of files.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void connectStartPage();
    void fillExamples();
    void refuse(const Status& status);
    [[nodiscard]] Status openRun(const std::filesystem::path& run);
    void chooseAndOpen();
    /// `data`: a file or a folder that is proposed; may be empty.
    void askForNew(const QString& data);
    /// `model`: likewise.
    void askForModel(const QString& model);
    void takeUpDraft(const QString& folder);
    void moveDraftToTrash(const Draft& draft);

    DocumentSession& m_session;
    EngineBridge& m_engine;
    Workspace& m_workspace;
    StartPage& m_start;
    Banner& m_banner;
    std::filesystem::path m_projects;
    QMenu* m_examples;
    QMenu* m_recent;
    QWidget* m_window;
};

} // namespace residua::app
