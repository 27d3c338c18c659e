// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"

#include <string>
#include <utility>
#include <vector>

namespace residua::cli {

/// The words that options and positionals accept, for shell completion. Each list is made once; any thread.

[[nodiscard]] const std::vector<std::string>& exampleNames();
[[nodiscard]] const std::vector<std::string>& recipeNames();
[[nodiscard]] const std::vector<std::string>& topologyNames();
[[nodiscard]] const std::vector<std::string>& topicNames(); ///< pages of the help
[[nodiscard]] const std::vector<std::string>& exportNames();
/// Returns every field that --set can set, with dots: "training.batch=". Fields in lists are omitted, because they have
/// an index.
[[nodiscard]] const std::vector<std::string>& fieldWords();
/// Returns every field that a sweep can vary, in the same form.
[[nodiscard]] const std::vector<std::string>& axisWords();

/// Returns the option or positional with the words that it accepts.
template <class Spec>
[[nodiscard]] Spec offering(Spec spec, std::vector<std::string> words, Beside beside = Beside::Nothing)
{
    spec.choices = std::move(words);
    spec.beside = beside;
    return spec;
}

} // namespace residua::cli
