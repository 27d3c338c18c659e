// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/run_reader.h"

#include <array>
#include <cstdio>

namespace residua::engine {
std::filesystem::path checkpointDirectory(const std::filesystem::path& runDirectory, std::int64_t step)
{
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "step-%08lld", static_cast<long long>(step));
    return runDirectory / "checkpoints" / name.data();
}

std::string toString(RunStatus status)
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
