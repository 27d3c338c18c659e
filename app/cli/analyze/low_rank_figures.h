// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze theory --figure N`: figures 1 to 4 of the paper on low-rank initialisation, with the solvers' results
/// beside the bounds.
[[nodiscard]] Exit runLowRankFigure(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> lowRankFigureOptions();

} // namespace residua::cli
