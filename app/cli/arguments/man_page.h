// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/command.h"

#include <string>
#include <vector>

namespace residua::cli {

/// Return manual pages of section 1 in man(7), made from the table that --help prints: of the program, and of one
/// command.
[[nodiscard]] std::string manPage(const std::vector<Command>& commands);
[[nodiscard]] std::string manPage(const Command& command);

} // namespace residua::cli
