// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The key that the file has for what was chosen where there is a choice of methods; explanations go by it. A branch
/// gate's is that of its gate, the other wirings' that of their family: "depth_mix".
[[nodiscard]] std::string keyOf(const Wiring& wiring);
[[nodiscard]] std::string keyOf(const Source& source);
[[nodiscard]] std::string keyOf(const Optimiser& optimiser);
[[nodiscard]] std::string keyOf(Objective objective);
[[nodiscard]] std::string keyOf(InitLaw law);
[[nodiscard]] std::string keyOf(LowRankMethod method);

/// What people call it: "LFAI-WS".
[[nodiscard]] std::string titleOf(LowRankMethod method);
/// "lfai-ws": its key as the terminal, tables and names of files write it.
[[nodiscard]] std::string wordOf(LowRankMethod method);
/// The method with this word or key; nullopt where there is none.
[[nodiscard]] std::optional<LowRankMethod> lowRankMethodFrom(std::string word);
/// "baseline, spectral, …": all of them, for errors and help.
[[nodiscard]] std::string lowRankMethodWords();
/// "spectral, lfai, …": those that approximate a full weight.
[[nodiscard]] std::string approximationWords();

[[nodiscard]] std::string keyOf(LowRankInputs inputs);
/// The inputs with this key; nullopt where there are none.
[[nodiscard]] std::optional<LowRankInputs> lowRankInputsFrom(std::string_view key);

/// Everything that keyOf can give, and the keys of topology presets, block presets and node kinds; some more than once.
[[nodiscard]] std::vector<std::string> methodKeys();

} // namespace residua::projects
