// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze theory --theorem I.1`: the steps that the phases of RaPTr's theorem I.1 need at each learning rate, beside
/// the theorem's count, as a table, CSV or SVG.
[[nodiscard]] Exit runSinePhases(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> sinePhasesOptions();

} // namespace residua::cli
