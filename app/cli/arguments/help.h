// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/command.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace residua::cli {

/// What signals do while a command trains.
inline constexpr const char* kSignalsHelp =
    "While it trains: Ctrl-C, SIGTERM and SIGHUP stop after a checkpoint, a second Ctrl-C quits at once; SIGUSR1 "
    "writes a checkpoint and goes on.";

/// A positional as a usage line shows it: "RUN", "[DIR]", "FIELD=VALUE...".
[[nodiscard]] std::string usageOf(const PositionalSpec& positional);
/// "-o, --output DIR".
[[nodiscard]] std::string optionLabel(const OptionSpec& option);

/// What the program does, its commands, exit codes and environment: as text that fits into so many columns.
[[nodiscard]] std::string overview(const std::vector<Command>& commands, std::size_t columns);
/// What a command takes, and its example.
[[nodiscard]] std::string explanation(const Command& command, std::size_t columns);

/// The same as one JSON value.
[[nodiscard]] nlohmann::json overviewJson(const std::vector<Command>& commands);
[[nodiscard]] nlohmann::json explanationJson(const Command& command);

} // namespace residua::cli
