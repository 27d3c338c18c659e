// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from the commands, because knock-outs and pruned sweeps share it.

#include "app/cli/arguments/arguments.h"
#include "engine/base/api/events.h"
#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/transfer/weakest.h"

#include <cstdint>
#include <string>

namespace residua::cli {

/// Returns the option --weak-by; `of` names the option that it belongs to.
[[nodiscard]] OptionSpec weakByOption(const std::string& of);
/// Parses the value of --weak-by.
[[nodiscard]] Result<projects::WeakBy> weakByFrom(const std::string& text);

/// Returns the `count` weakest shortcuts of the run's project that can be left out together (projects::weakest), by a
/// knock-out of all its shortcuts.
[[nodiscard]] Result<projects::Pruning> weakestOf(const projects::Project& project, const engine::KnockoutReady& ready,
                                                  projects::WeakBy by, std::int64_t count);

} // namespace residua::cli
