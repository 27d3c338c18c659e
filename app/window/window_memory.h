// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <filesystem>

class QMainWindow;

namespace residua::app {

class Commands;
class DocumentSession;
class Workspace;
struct WindowActions;

/// Whether the window takes up, and leaves behind, how it was laid out and what was opened.
enum class Memory { UserSettings, None };

/// What of a window is in the user's settings: its place and size, its docks, keys, theme, the last export, and the
/// projects that were opened. GUI thread.
class WindowMemory : public QObject {
    Q_OBJECT
public:
    WindowMemory(Memory memory, QMainWindow& window, Workspace& workspace);

    /// Takes up what is kept of these, but not the theme, which is known before there is a window; and keeps what
    /// changes from now on.
    void follow(const WindowActions& actions, const DocumentSession& session, Commands& commands);
    /// Places the docks as they were left, or where they belong. Once, when the workspace is seen.
    void arrange();
    /// Keeps how the window is laid out.
    void keepLayout() const;

private:
    void rememberPlace(const DocumentSession& session);

    Memory m_memory;
    QMainWindow& m_window;
    Workspace& m_workspace;
    std::filesystem::path m_place; ///< of the open project, where it is remembered
    bool m_arranged = false;
};

} // namespace residua::app
