// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/shipped/recipes.h"

#include <cstdint>
#include <string>
#include <vector>

// Parts that recipes share.
namespace residua::projects {

/// Sets a parameter of every node that has the kind.
void setParam(Graph& graph, const std::string& kind, const std::string& key, const ParamValue& value);
/// Returns a network of `depth` layers of a block preset under the plain residual, without stem and head.
[[nodiscard]] Project sized(const std::string& block, std::int64_t depth, std::int64_t width, std::int64_t heads);
/// Returns the recipes of networks with loops.
[[nodiscard]] std::vector<Recipe> loopedRecipes();

} // namespace residua::projects
