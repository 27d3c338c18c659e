// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>

#include <chrono>
#include <filesystem>

class QWidget;

namespace residua::engine {
struct RunEnded;
struct RunPaused;
} // namespace residua::engine

namespace residua::app {

class Banner;
class EngineBridge;
class RunBar;
class RunController;
class Workspace;
struct WindowActions;

/// Trains the open document, now or after the queued runs, and reports the result. GUI thread.
class TrainingCommands : public QObject {
    Q_OBJECT
public:
    TrainingCommands(const WindowActions& actions, EngineBridge& engine, RunController& controller,
                     Workspace& workspace, RunBar& bar, Banner& banner, QWidget* window);

    /// Suppresses the banner at the start that there is no engine; for pictures.
    void keepNoEngineQuiet() { m_noDevicesTold = true; }
    /// True if the window may close. Asks once if a run has been running for longer than `longest`, and closes the
    /// window if the answer is yes.
    [[nodiscard]] bool mayClose(std::chrono::milliseconds longest = std::chrono::minutes(1));

signals:
    void noted(const QString& text);

private:
    void connectRun();
    void connectQueue();
    void connectDevices(RunBar& bar);
    void enableQueue();
    void tellEnded(const engine::RunEnded& event);
    void tellHeldUp(const engine::RunPaused& event);
    void leaveTraining();
    void tellTakenUp(int count, const std::filesystem::path& project);

    const WindowActions& m_actions;
    EngineBridge& m_engine;
    RunController& m_controller;
    Workspace& m_workspace;
    Banner& m_banner;
    QWidget* m_window;
    QElapsedTimer m_underWay; ///< since the run began
    bool m_noDevicesTold = false;
    bool m_closes = false; ///< the user has confirmed
};

} // namespace residua::app
