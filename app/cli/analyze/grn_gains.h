// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

namespace residua::cli {

/// `analyze theory --figure 5`: both panels of DeepCrossAttention's figure 5 at several widths, as a table, CSV or SVG.
[[nodiscard]] Exit runGrnGains(const Arguments& arguments, const Console& console);

} // namespace residua::cli
