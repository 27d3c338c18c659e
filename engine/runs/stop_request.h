// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace residua::engine {

/// A file in a run's directory with which one process asks the process that trains the run to end it after a step.
/// Links are ignored.
inline constexpr const char* kStopFile = "stop";

/// Requests the run's end after `step`; if `step` is 0 or already done, at the end of the next step. A later request
/// replaces an earlier one.
[[nodiscard]] Status writeStopRequest(const std::filesystem::path& runDirectory, std::int64_t step);
/// Returns the requested step; nullopt if there is no request or it is malformed. Takes one system call without a
/// request.
[[nodiscard]] std::optional<std::int64_t> readStopRequest(const std::filesystem::path& runDirectory);
/// Removes an earlier request. Called when a process begins to train the run, or ends it.
void clearStopRequest(const std::filesystem::path& runDirectory);

} // namespace residua::engine
