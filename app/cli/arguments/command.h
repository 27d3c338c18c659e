// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <string>

namespace residua::cli {

/// Whether a command's result is its output or files. With Output it fails if standard output cannot be written.
enum class Yields { Output, Files };

/// One command of residua-cli. To add one, write its function in a commands/commands_*.cpp and its entry in that file's
/// table.
struct Command {
    std::string name;
    std::string summary; ///< one line
    /// A command line that works after the preceding examples in allCommands() have been run.
    std::string example;
    Syntax syntax;
    Exit (*run)(const Arguments& arguments, const Console& console);
    Yields yields = Yields::Output;
};

} // namespace residua::cli
