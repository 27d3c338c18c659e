// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"

#include <string>
#include <utility>
#include <vector>

namespace residua::cli {

/// The words that options and positionals take, for a shell to offer. Each list is made once; any thread.

[[nodiscard]] const std::vector<std::string>& exampleNames();
[[nodiscard]] const std::vector<std::string>& topologyNames();
[[nodiscard]] const std::vector<std::string>& topicNames(); ///< pages of the help
[[nodiscard]] const std::vector<std::string>& exportNames();
/// Every field that one word can set, with dots: "training.batch=". Those in lists are left out: they have a number.
[[nodiscard]] const std::vector<std::string>& fieldWords();
/// Every field that a sweep can vary, likewise.
[[nodiscard]] const std::vector<std::string>& axisWords();

/// An option or a positional with the words that it takes.
template <class Spec>
[[nodiscard]] Spec offering(Spec spec, std::vector<std::string> words, Beside beside = Beside::Nothing)
{
    spec.choices = std::move(words);
    spec.beside = beside;
    return spec;
}

} // namespace residua::cli
