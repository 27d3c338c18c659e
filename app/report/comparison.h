// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::report {

/// Returns every run directly in `folder`, sorted by name, as one self-contained HTML page: overlaid losses, theorems
/// on them, loss over cost with its Pareto front, and a table. Runs that have not finished are marked, and have no loss
/// in the table and no point of the cost. Returns an error if no run can be read.
[[nodiscard]] Result<std::string> comparisonHtml(const std::filesystem::path& folder);

} // namespace residua::report
