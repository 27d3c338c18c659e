// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/actions/command_groups.h"
#include "app/runs/checkpoint_dialogs.h"

#include <QPointer>

#include <cstdint>
#include <functional>
#include <string>

namespace residua::app {

/// Copies checkpoints of runs on other machines to this one: on request, and before a command that reads one here. GUI
/// thread.
class FetchCommands : public CommandGroup {
    Q_OBJECT
public:
    /// Called with true when the checkpoint is on this machine, with false if the user does not fetch it.
    using Next = std::function<void(bool here)>;

    explicit FetchCommands(const WindowParts& parts);

    /// Asks which checkpoint of the run to fetch. `reason` says why something failed without one; empty: nothing did.
    /// If all are here, it is refused with that reason.
    void ask(const std::string& run, const Next& next = {}, const QString& reason = {});
    /// Fetches the checkpoint of `step` if it is on another machine only, in a dialog that can be cancelled.
    void need(const std::string& run, std::int64_t step, const Next& next);

private:
    void open(GoOnSource source, Next next);
    void finish(bool here);

    QPointer<FetchDialog> m_dialog; ///< the open dialog
    engine::QueryTag m_fetch{};     ///< of the last request
    Next m_next;                    ///< of the open dialog
};

} // namespace residua::app
