// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>

namespace residua::cli {

/// An environment variable that the program reads, and the effect of its values.
struct EnvironmentVariable {
    const char* name = "";
    std::string meaning;
};

/// Returns all variables RESIDUA_… of the program and the window, which `residua-cli --help` and its manual page list.
[[nodiscard]] std::span<const EnvironmentVariable> environmentVariables();

} // namespace residua::cli
