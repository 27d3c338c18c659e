// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace residua::engine {

/// A file in a run's directory by which one process asks another, which trains the run, to end it after a step. It is
/// not looked for through a link.
inline constexpr const char* kStopFile = "stop";

/// Asks for the run's end after `step`; 0, or a step that is done: at the next step's end. A later request takes the
/// place of an earlier one.
[[nodiscard]] Status writeStopRequest(const std::filesystem::path& runDirectory, std::int64_t step);
/// The step that is asked for; nothing where nobody asks, or what stands there is no step. One system call where nobody
/// does.
[[nodiscard]] std::optional<std::int64_t> readStopRequest(const std::filesystem::path& runDirectory);
/// Whoever begins to train the run, or ends it, takes back what was asked before.
void clearStopRequest(const std::filesystem::path& runDirectory);

} // namespace residua::engine
