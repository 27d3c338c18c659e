// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/console.h"
#include "projects/edit.h"

#include <span>
#include <string>
#include <vector>

namespace residua::cli {

/// One command of residua-cli. To add one: write its function in a commands_*.cpp and its entry in that file's table.
struct Command {
    std::string name;
    std::string summary; ///< one line
    std::string example; ///< a command line that works
    Syntax syntax;
    Exit (*run)(const Arguments& arguments, const Console& console);
};

[[nodiscard]] std::vector<Command> projectCommands(); ///< new, validate, info, diff
[[nodiscard]] std::vector<Command> runCommands();     ///< train, resume, bench
[[nodiscard]] std::vector<Command> sweepCommands();   ///< sweep
[[nodiscard]] std::vector<Command> modelCommands();   ///< eval, sample, retrofit
[[nodiscard]] std::vector<Command> analyzeCommands(); ///< analyze
[[nodiscard]] std::vector<Command> recordCommands();  ///< runs, report, devices
[[nodiscard]] std::vector<Command> explainCommands(); ///< explain

/// The whole program, but for the process around it: `words` are what follows its name.
[[nodiscard]] Exit runProgram(std::span<const std::string> words);

} // namespace residua::cli
