// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "app/cli/terminal/console.h"

#include <span>
#include <string>
#include <vector>

namespace residua::cli {

[[nodiscard]] std::vector<Command> newCommands();       ///< new
[[nodiscard]] std::vector<Command> projectCommands();   ///< set, validate, info, data, diff
[[nodiscard]] std::vector<Command> tokeniseCommands();  ///< tokenise
[[nodiscard]] std::vector<Command> runCommands();       ///< train, resume
[[nodiscard]] std::vector<Command> benchCommands();     ///< bench
[[nodiscard]] std::vector<Command> clusterCommands();   ///< cluster-script
[[nodiscard]] std::vector<Command> sweepCommands();     ///< sweep
[[nodiscard]] std::vector<Command> modelCommands();     ///< eval, sample, retrofit, factorise
[[nodiscard]] std::vector<Command> importCommands();    ///< import
[[nodiscard]] std::vector<Command> exportCommands();    ///< export
[[nodiscard]] std::vector<Command> drawCommands();      ///< draw
[[nodiscard]] std::vector<Command> bundleCommands();    ///< pack, unpack
[[nodiscard]] std::vector<Command> analyzeCommands();   ///< analyze
[[nodiscard]] std::vector<Command> reproduceCommands(); ///< reproduce (app/cli/reproduce)
[[nodiscard]] std::vector<Command> recordCommands();    ///< runs, report, devices
[[nodiscard]] std::vector<Command> compareCommands();   ///< compare
[[nodiscard]] std::vector<Command> watchCommands();     ///< watch, stop, fetch
[[nodiscard]] std::vector<Command> helpCommands();      ///< explain, completion, man

/// Returns every command in the order of the help.
[[nodiscard]] std::vector<Command> allCommands();

/// Runs the program without the process settings of main(). `words` are the arguments. Never throws: an exception of a
/// command is reported, and the exit code is Exit::Fault.
[[nodiscard]] Exit runProgram(std::span<const std::string> words);

} // namespace residua::cli
