// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "app/actions/window_actions.h"
#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/records/run_archive.h"
#include "app/training/run_controller.h"
#include "app/window/window_memory.h"
#include "app/workspace/workspace.h"

#include <QMainWindow>

#include <filesystem>

class QStackedWidget;

namespace residua::app {

class CanvasActions;
class Commands;
class OpenCommands;
class RunFollower;
class SaveCommands;
class TrainingCommands;

/// The main window. It combines the parts, and enables the commands that currently have an effect.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Look& look, WindowFolders folders, Memory memory, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens a path as OpenCommands::open() does.
    void openProject(const std::filesystem::path& path);
    void showStartPage();

    [[nodiscard]] DocumentSession& session() { return m_session; }
    [[nodiscard]] RunController& runs() { return m_runs; }
    [[nodiscard]] Workspace& workspace() { return *m_workspace; }
    [[nodiscard]] DocumentViews& documents() { return *m_documents; }
    [[nodiscard]] const RunFollower& runFollower() const { return *m_runFollower; }
    [[nodiscard]] const WindowActions& actions() const { return m_actions; }
    [[nodiscard]] EditCommands& editCommands() { return *m_editCommands; }
    [[nodiscard]] OpenCommands& openCommands() { return *m_openCommands; }
    [[nodiscard]] TrainingCommands& trainingCommands() { return *m_trainingCommands; }
    [[nodiscard]] QString bannerText() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void makePages();
    void makeViews();
    void makeDocumentCommands();
    void makeRunCommands();
    void connectSession();
    void connectWindow();
    [[nodiscard]] WindowParts parts();
    void onOpened();
    void arrangeOnce();
    [[nodiscard]] bool showsProject() const;
    void updateState();
    void updateCanvasKeys();
    void about();

    Look& m_look;
    WindowFolders m_folders;
    WindowActions m_actions;
    DocumentSession m_session;
    Analysis m_analysis;
    EngineBridge m_engine;
    RunController m_runs;
    RunArchive m_archive;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    Workspace* m_workspace = nullptr;
    Banner* m_banner = nullptr;
    RunBar* m_runBar = nullptr;
    WindowMenus m_menus{};
    StatusLine* m_status = nullptr;
    WindowMemory* m_memory = nullptr;
    DocumentViews* m_documents = nullptr;
    RunFollower* m_runFollower = nullptr;
    Commands* m_commands = nullptr;
    CanvasActions* m_canvasActions = nullptr;
    EditCommands* m_editCommands = nullptr;
    OpenCommands* m_openCommands = nullptr;
    SaveCommands* m_saveCommands = nullptr;
    TrainingCommands* m_trainingCommands = nullptr;
    bool m_devicesAsked = false;
};

} // namespace residua::app
