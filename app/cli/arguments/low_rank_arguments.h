// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "projects/model/project.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::cli {

/// Return the options --rank and --rank-scale with the ranges of the document's fields, and --inputs with the choices
/// of its field.
[[nodiscard]] OptionSpec rankOption();
[[nodiscard]] OptionSpec rankScaleOption(std::string help);
[[nodiscard]] OptionSpec inputsOption(std::string help);

/// Parses --rank N or --rank-scale S; nullopt if neither is given. Errors: both are given, or a share of 0.
[[nodiscard]] Result<std::optional<projects::WeightRank>> rankFrom(const Arguments& arguments);
/// Parses --inputs gaussian or data; nullopt if not given. Other words are errors.
[[nodiscard]] Result<std::optional<projects::LowRankInputs>> inputsFrom(const Arguments& arguments);
/// Returns the method with this name in files, with "-" for "_". The error, placed at --method, lists the names.
[[nodiscard]] Result<projects::LowRankMethod> methodFrom(const std::string& name);
/// The default of --methods of analyze gap.
inline constexpr const char* kGapMethods = "spectral,lfai-ws,exact";
/// The default of --methods of the figures of analyze theory.
inline constexpr const char* kFigureMethods = "spectral,relu-svd,exact";
/// Parses a list such as "spectral,lfai-ws,exact" without repetitions. Errors are placed at --methods.
[[nodiscard]] Result<std::vector<projects::LowRankMethod>> methodsFrom(const std::string& list);

} // namespace residua::cli
