// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <filesystem>
#include <string>

namespace residua::report {

/// Every run directly in `folder`, in the order of their names, as one HTML page that needs nothing else: losses
/// overlaid, what theorems say of them, loss against cost with its Pareto front, and a table. Runs that have not
/// finished are said to be so, have no loss in the table and are no points of the cost. Errors where there is no run
/// that can be read.
[[nodiscard]] Result<std::string> comparisonHtml(const std::filesystem::path& folder);

} // namespace residua::report
