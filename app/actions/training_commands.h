// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"

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
    /// True if the window may close. Asks if a run would end with it, and closes the window if the answer is yes.
    [[nodiscard]] bool mayClose();
    /// Asks the engine for the devices of the run bar.
    void listDevices();

private:
    void connectRun();
    void followPreparation();
    void connectQueue();
    void connectDevices();
    void enableQueue();
    void tellEnded(const engine::RunEnded& event);
    void tellHeldUp(const engine::RunPaused& event);
    void leaveTraining();
    void tellTakenUp(int count, const std::filesystem::path& project);

    QString m_preparing; ///< the last notice of how far the preparation of a run is
    bool m_noDevicesTold = false;
    bool m_closes = false; ///< the user has confirmed
};

} // namespace residua::app
