// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/command.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::cli {

enum class Shell { Bash, Zsh, Fish };
[[nodiscard]] std::optional<Shell> shellFrom(std::string_view name);

/// Returns a script for the shell that completes commands, options and their values (examples, topologies, help topics,
/// fields, devices, files). It is made from the table that --help prints.
[[nodiscard]] std::string completionScript(Shell shell, const std::vector<Command>& commands);

} // namespace residua::cli
