// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze gap`: the distance of each factored weight's layer from the full one's function, by method, for a project's
/// initial weights or a run's learned weights.
[[nodiscard]] Exit runGap(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> gapOptions();

} // namespace residua::cli
