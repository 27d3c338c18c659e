// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze stability`: the effect of each layer on the network of a run's checkpoint (RaPTr, section 5), or, with
/// --figure 4, the paper's linear network at increasing depths.
[[nodiscard]] Exit runStability(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> stabilityOptions();

} // namespace residua::cli
