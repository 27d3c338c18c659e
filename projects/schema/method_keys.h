// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Returns the key in the file of the selected method; explanations use it too. A branch gate has the key of its gate,
/// other wirings that of their family: "depth_mix".
[[nodiscard]] std::string keyOf(const Wiring& wiring);
[[nodiscard]] std::string keyOf(const Source& source);
[[nodiscard]] std::string keyOf(const Optimiser& optimiser);
[[nodiscard]] std::string keyOf(Objective objective);
[[nodiscard]] std::string keyOf(InitLaw law);
[[nodiscard]] std::string keyOf(LowRankMethod method);

/// Returns the name for people: "LFAI-WS".
[[nodiscard]] std::string titleOf(LowRankMethod method);
/// Returns the key as the terminal, tables and file names write it: "lfai-ws".
[[nodiscard]] std::string wordOf(LowRankMethod method);
/// Returns the method with this word or key, or nullopt.
[[nodiscard]] std::optional<LowRankMethod> lowRankMethodFrom(std::string word);
/// Returns the words of all methods for errors and help: "baseline, spectral, …".
[[nodiscard]] std::string lowRankMethodWords();
/// Returns the words of the methods that approximate a full weight: "spectral, lfai, …".
[[nodiscard]] std::string approximationWords();

[[nodiscard]] std::string keyOf(LowRankInputs inputs);
/// Returns the inputs with this key, or nullopt.
[[nodiscard]] std::optional<LowRankInputs> lowRankInputsFrom(std::string_view key);

/// Returns all keys that keyOf() can return, and the keys of topology presets, block presets and node kinds. May repeat
/// keys.
[[nodiscard]] std::vector<std::string> methodKeys();

} // namespace residua::projects
