// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"

#include <QElapsedTimer>

#include <chrono>
#include <filesystem>

namespace residua::engine {
struct RunEnded;
struct RunPaused;
} // namespace residua::engine

namespace residua::app {

/// Trains the open document, now or after the queued runs, and reports the result. GUI thread.
class TrainingCommands : public CommandGroup {
    Q_OBJECT
public:
    explicit TrainingCommands(const WindowParts& parts);

    /// Suppresses the banner at the start that there is no engine; for pictures.
    void keepNoEngineQuiet() { m_noDevicesTold = true; }
    /// True if the window may close. Asks once if a run has been running for longer than `longest`, and closes the
    /// window if the answer is yes.
    [[nodiscard]] bool mayClose(std::chrono::milliseconds longest = std::chrono::minutes(1));

private:
    void connectRun();
    void connectQueue();
    void connectDevices();
    void enableQueue();
    void tellEnded(const engine::RunEnded& event);
    void tellHeldUp(const engine::RunPaused& event);
    void leaveTraining();
    void tellTakenUp(int count, const std::filesystem::path& project);

    QElapsedTimer m_underWay; ///< since the run began
    bool m_noDevicesTold = false;
    bool m_closes = false; ///< the user has confirmed
};

} // namespace residua::app
