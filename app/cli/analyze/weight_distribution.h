// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

namespace residua::cli {

/// `analyze coefficients RUN --distribution`: the median over the features of every weight that a checkpoint holds,
/// with the 5th and the 95th percentile (DeepCrossAttention, figure 10), as a table, CSV or SVG.
[[nodiscard]] Exit runDistribution(const Arguments& arguments, const Console& console);

} // namespace residua::cli
