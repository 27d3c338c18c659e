// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <filesystem>
#include <string>

namespace residua::engine {

/// The name of a new run of `project` in this folder: the project's, "mine", with its wiring if that is no preset's,
/// "mine, custom from ANCRe, ingoing, 3 pruned". A project that is named as a preset gives way to its wiring's name,
/// "No shortcuts + 1:4". If a run there that differs has that name, what differs from the oldest follows, "mine, width
/// 64 features". For a run of no sweep. Reads the newest runs and the oldest. Blocking; any thread.
[[nodiscard]] std::string nameForRun(const std::filesystem::path& folder, const projects::Project& project);

} // namespace residua::engine
