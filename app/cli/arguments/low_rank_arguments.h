// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments/arguments.h"
#include "projects/model/project.h"

#include <optional>
#include <string>
#include <vector>

namespace residua::cli {

/// Return the options --rank and --rank-scale with the ranges of the document's fields.
[[nodiscard]] OptionSpec rankOption();
[[nodiscard]] OptionSpec rankScaleOption(std::string help);

/// Parses --rank N or --rank-scale S; nullopt if neither is given. Errors: both are given, or a share of 0.
[[nodiscard]] Result<std::optional<projects::WeightRank>> rankFrom(const Arguments& arguments);
/// Returns the words of the methods as methodsFrom() takes them.
[[nodiscard]] std::string methodList(const std::vector<projects::LowRankMethod>& methods);
/// Parses a list such as "spectral,lfai-ws,exact" without repetitions. Errors are placed at --methods.
[[nodiscard]] Result<std::vector<projects::LowRankMethod>> methodsFrom(const std::string& list);

} // namespace residua::cli
