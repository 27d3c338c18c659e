// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::cli {

/// The effects of signals while a command trains.
inline constexpr const char* kSignalsHelp =
    "While it trains: Ctrl-C, SIGTERM and SIGHUP stop after a checkpoint, a second Ctrl-C quits at once; SIGUSR1 "
    "writes a checkpoint and goes on.";

/// Formats a positional for a usage line: "RUN", "[DIR]", "FIELD=VALUE...".
[[nodiscard]] std::string usageOf(const PositionalSpec& positional);
/// Formats an option: "-o, --output DIR".
[[nodiscard]] std::string optionLabel(const OptionSpec& option);

/// Describes the program, its commands, exit codes and environment as text of at most `columns` columns.
[[nodiscard]] std::string overview(const std::vector<Command>& commands, std::size_t columns);
/// Describes the arguments of a command, with its example.
[[nodiscard]] std::string explanation(const Command& command, std::size_t columns);

/// Return the same content as JSON.
[[nodiscard]] nlohmann::json overviewJson(const std::vector<Command>& commands);
[[nodiscard]] nlohmann::json explanationJson(const Command& command);

/// Return manual pages of section 1 in man(7) of the program and of one command, from the table of --help.
[[nodiscard]] std::string manPage(const std::vector<Command>& commands);
[[nodiscard]] std::string manPage(const Command& command);

enum class Shell { Bash, Zsh, Fish };
[[nodiscard]] std::optional<Shell> shellFrom(std::string_view name);

/// Returns a script for the shell that completes commands, options and their values (examples, topologies, help topics,
/// fields, devices, files). It is made from the table that --help prints.
[[nodiscard]] std::string completionScript(Shell shell, const std::vector<Command>& commands);

} // namespace residua::cli
