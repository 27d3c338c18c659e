// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/window_actions.h"
#include "app/document/analysis.h"
#include "app/document/document_session.h"
#include "app/engine/engine_bridge.h"
#include "app/runs/run_archive.h"
#include "app/runs/run_controller.h"
#include "app/workspace/workspace.h"

#include <QMainWindow>

#include <filesystem>

class QLabel;
class QStackedWidget;

namespace residua::app {

class Banner;
class BundleCommands;
class CanvasActions;
class Commands;
class DocumentViews;
class EditCommands;
class ElidedLabel;
class Look;
class RunBar;
class RunFollower;
class StartPage;
class SweepCommands;

/// Whether the window takes up, and leaves behind, how it was laid out and what was opened.
enum class Memory { UserSettings, None };

/// Where the window keeps what has no place of its own.
struct WindowFolders {
    std::filesystem::path drafts;      ///< journals of unsaved projects
    std::filesystem::path projects;    ///< where Run and Save put a project without a place
    std::filesystem::path blocks = {}; ///< the user's own blocks; empty: there are none
};

/// The main window. It puts the parts together and connects the commands to them.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Look& look, WindowFolders folders, Memory memory, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// A project's folder; a run's, which opens its project and is shown there wherever it lies; or a bundle, which is
    /// unpacked as the user says.
    void openProject(const std::filesystem::path& path);
    /// Opens a copy of an example as an unsaved project; an unknown name is an error that lists those there are.
    [[nodiscard]] Status openExample(const std::string& name);
    void showStartPage();

    [[nodiscard]] DocumentSession& session() { return m_session; }
    [[nodiscard]] RunController& runs() { return m_runs; }
    [[nodiscard]] Workspace& workspace() { return *m_workspace; }
    [[nodiscard]] DocumentViews& documents() { return *m_documents; }
    [[nodiscard]] EditCommands& editCommands() { return *m_editCommands; }
    [[nodiscard]] const WindowActions& actions() const { return m_actions; }
    [[nodiscard]] QString bannerText() const;
    /// The banner does not say at the start that there is no engine: for pictures.
    void keepNoEngineQuiet() { m_noDevicesTold = true; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void connectFile();
    void connectBundles();
    void connectEdit();
    void connectView();
    void connectRun();
    void connectQueue();
    void connectRecords();
    void fillExamples();
    void fillRecent();
    void makePages();
    void makeStatusBar();
    void onOpened();
    void arrangeOnce();
    void updateState();
    void updateTopologies();
    void updateStatus();
    void updateCanvasKeys();
    void loadFiles(const QString& title);
    void finishTyping();
    void save();
    void saveAs();
    void takeAlong();
    void chooseAndOpen();
    void openRun(const std::filesystem::path& run);
    void askForNew();
    void askForModel();
    void takeUpDraft(const QString& folder);
    void moveDraftToTrash(const Draft& draft);
    void chooseTopology(int index);
    void offerRecovered();
    void offerReload();
    void noticeAction();
    void refuse(const QString& reason);
    void note(const QString& text);
    void remember(const QString& folder);
    void restoreLayout();
    void askBeforeClosing(const Status& kept);
    void exportReport();
    void askToTrash(const std::vector<std::string>& runs);
    void offerBack(const std::vector<TrashedRun>& runs);
    [[nodiscard]] QString namesOf(const std::vector<std::string>& runs) const;
    void about();

    Look& m_look;
    WindowFolders m_folders;
    Memory m_memory;
    WindowActions m_actions;
    DocumentSession m_session;
    Analysis m_analysis;
    EngineBridge m_engine;
    RunController m_runs;
    RunArchive m_archive;
    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    Workspace* m_workspace = nullptr;
    RunBar* m_runBar = nullptr;
    Banner* m_banner = nullptr;
    DocumentViews* m_documents = nullptr;
    EditCommands* m_editCommands = nullptr;
    CanvasActions* m_canvasActions = nullptr;
    Commands* m_commands = nullptr;
    RunFollower* m_runFollower = nullptr;
    SweepCommands* m_sweepCommands = nullptr;
    BundleCommands* m_bundleCommands = nullptr;
    QLabel* m_queueLine = nullptr;
    QLabel* m_problemCount = nullptr;
    QLabel* m_costLine = nullptr;
    ElidedLabel* m_placeLine = nullptr; ///< a path may be longer than the window is wide
    WindowMenus m_menus{};
    bool m_arranged = false;
    bool m_devicesAsked = false;
    bool m_noDevicesTold = false;
    bool m_filesChanged = false;     ///< by another program, and nobody has said yet what becomes of it
    std::uint64_t m_actionCount = 0; ///< changes of the document and starts of runs
    enum class Closing { WhenKept, Anyway } m_closing = Closing::WhenKept;
};

} // namespace residua::app
