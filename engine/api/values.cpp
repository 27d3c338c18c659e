// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/values.h"

namespace residua::engine {

std::string textOf(RunStatus status)
{
    switch (status) {
    case RunStatus::Running:
        return "running";
    case RunStatus::Paused:
        return "paused";
    case RunStatus::Finished:
        return "finished";
    case RunStatus::Stopped:
        return "stopped";
    case RunStatus::Failed:
        return "failed";
    case RunStatus::Interrupted:
        return "interrupted";
    }
    return {};
}

} // namespace residua::engine
