// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

namespace residua::cli {

/// A variable of the environment that the program reads, and what a value does.
struct EnvironmentVariable {
    const char* name = "";
    std::string meaning;
};

/// Every one of the program's own, RESIDUA_…, of the window too: `residua-cli --help` and its manual page list them.
[[nodiscard]] std::span<const EnvironmentVariable> environmentVariables();

} // namespace residua::cli
