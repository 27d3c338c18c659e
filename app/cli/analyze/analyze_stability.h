// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze stability`: what the network of a run's checkpoint does without each of its layers (RaPTr, section 5), or,
/// with --figure 4, the paper's linear network at growing depths.
[[nodiscard]] Exit runStability(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> stabilityOptions();

} // namespace residua::cli
