// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <filesystem>

class QWidget;

namespace residua::engine {
struct RunEnded;
} // namespace residua::engine

namespace residua::app {

class Banner;
class EngineBridge;
class RunBar;
class RunController;
class Workspace;
struct WindowActions;

/// Trains the open document, now or after the runs that are queued before it, and says what came of it. GUI thread.
class TrainingCommands : public QObject {
    Q_OBJECT
public:
    TrainingCommands(const WindowActions& actions, EngineBridge& engine, RunController& controller,
                     Workspace& workspace, RunBar& bar, Banner& banner, QWidget* window);

    /// The banner does not say at the start that there is no engine: for pictures.
    void keepNoEngineQuiet() { m_noDevicesTold = true; }

signals:
    void noted(const QString& text);

private:
    void connectRun();
    void connectQueue();
    void connectDevices(RunBar& bar);
    void enableQueue();
    void tellEnded(const engine::RunEnded& event);
    void tellTakenUp(int count, const std::filesystem::path& project);

    const WindowActions& m_actions;
    EngineBridge& m_engine;
    RunController& m_controller;
    Workspace& m_workspace;
    Banner& m_banner;
    QWidget* m_window;
    bool m_noDevicesTold = false;
};

} // namespace residua::app
