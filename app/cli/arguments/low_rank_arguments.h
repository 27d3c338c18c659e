// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "projects/model/project.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::cli {

/// The options --rank and --rank-scale, in the ranges of the document's fields, and --inputs, whose words are the
/// choices of its field.
[[nodiscard]] OptionSpec rankOption();
[[nodiscard]] OptionSpec rankScaleOption(std::string help);
[[nodiscard]] OptionSpec inputsOption(std::string help);

/// --rank N or --rank-scale S; nullopt without either. Errors: both, or a share of 0.
[[nodiscard]] Result<std::optional<projects::WeightRank>> rankFrom(const Arguments& arguments);
/// --inputs gaussian or data; nullopt without it. An error for another word.
[[nodiscard]] Result<std::optional<projects::LowRankInputs>> inputsFrom(const Arguments& arguments);
/// A method by its name in files; "-" stands for "_". The error, placed at --method, lists the names.
[[nodiscard]] Result<projects::LowRankMethod> methodFrom(const std::string& name);
/// What analyze gap compares where --methods does not say.
inline constexpr const char* kGapMethods = "spectral,lfai-ws,exact";
/// What the figures of analyze theory compare where --methods does not say.
inline constexpr const char* kFigureMethods = "spectral,relu-svd,exact";
/// "spectral,lfai-ws,exact": each once. Errors, placed at --methods.
[[nodiscard]] Result<std::vector<projects::LowRankMethod>> methodsFrom(const std::string& list);

} // namespace residua::cli
