// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"

#include <string>
#include <string_view>

namespace residua::cli {

/// Returns an option --name for the number at `pointer` of the schema ("/network/stack/N/repeat"), with its range. An
/// open end is treated as closed. `value` is the name of the value in the help.
[[nodiscard]] OptionSpec fieldOption(std::string_view pointer, std::string name, std::string value, std::string help);

} // namespace residua::cli
