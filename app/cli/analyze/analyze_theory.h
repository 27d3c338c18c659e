// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <vector>

namespace residua::cli {

/// `analyze theory`: the results of DeepCrossAttention §4 for a low-rank linear model, given by numbers or by a
/// project.
[[nodiscard]] Exit runTheory(const Arguments& arguments, const Console& console);
[[nodiscard]] std::vector<OptionSpec> theoryOptions();

} // namespace residua::cli
