// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze gap`: how far each factored weight's layer is from the full one's function, by each method, for a project's
/// draw or for what a run has learned.
[[nodiscard]] Exit runGap(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> gapOptions();

} // namespace residua::cli
