// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"

#include <string>
#include <string_view>

namespace residua::cli {

/// An option --name that stands for the number at `pointer` of the schema ("/network/stack/N/repeat"), in its range.
/// An end that is open counts as in it. `value` is what the help calls the number.
[[nodiscard]] OptionSpec fieldOption(std::string_view pointer, std::string name, std::string value, std::string help);

} // namespace residua::cli
