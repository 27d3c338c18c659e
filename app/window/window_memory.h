// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <filesystem>

class QMainWindow;

namespace residua::app {

class Commands;
class DocumentSession;
class RunController;
class Workspace;
struct WindowActions;

/// Whether the window restores and stores its layout and the opened projects.
enum class Memory { UserSettings, None };

/// The data of a window in the user's settings: its place and size, docks, keys, theme, last export, where runs train,
/// and the opened projects. GUI thread.
class WindowMemory : public QObject {
    Q_OBJECT
public:
    WindowMemory(Memory memory, QMainWindow& window, Workspace& workspace);

    /// Restores the stored values, except the theme (set before the window exists), and stores changes from now on.
    void follow(const WindowActions& actions, const DocumentSession& session, Commands& commands);
    /// Restores where the runs of a project train when it is opened. Before addRemoteCommands(), which looks there.
    void followPlaces(const DocumentSession& session, RunController& controller);
    /// Places the docks as in the last session, or at their default places. Called once, when the workspace is shown.
    void arrange();
    /// Stores the layout of the window.
    void keepLayout() const;

private:
    void rememberPlace(const DocumentSession& session);

    Memory m_memory;
    QMainWindow& m_window;
    Workspace& m_workspace;
    std::filesystem::path m_place; ///< of the open project, if it is remembered
    bool m_arranged = false;
};

} // namespace residua::app
