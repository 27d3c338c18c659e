// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/commands/commands.h"

#include <random>
#include <string>
#include <vector>

namespace residua::fuzz {

/// Words that commands can work with, by the name that the table of commands gives an argument or a value: "RUN" → a
/// run.
struct SoundWords {
    std::vector<std::string> of(const std::string& name) const;

    std::vector<std::pair<std::string, std::string>> words;
};

/// A command line for residua-cli, made by the table of commands: words that make sense, words that nobody types, and
/// the mistakes between them (left out, twice, in another order, with other bytes). The same random state makes the
/// same line.
[[nodiscard]] std::vector<std::string>
randomCommandLine(std::mt19937_64& random, const std::vector<cli::Command>& commands, const SoundWords& sound);

} // namespace residua::fuzz
