// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/project.h"

#include <cstdint>
#include <string>
#include <vector>

// Parts that recipes share.
namespace residua::projects {

/// A network and its training at the size of a paper. The data do not ship with the program: a person names them.
struct Recipe {
    std::string name; ///< stable key for --recipe
    std::string title;
    std::string summary;  ///< one line
    Project project;      ///< under the plain residual, with data of the right kind and an empty path
    std::string topology; ///< the preset that the paper is about
    std::string schedule; ///< for scheduleFrom(); empty: every step trains all layers
    /// The differences from the source that the recipe follows, a sentence each. The help's page has them too.
    std::vector<std::string> differences = {};
};
/// Returns the recipes in display order. Immutable; any thread.
[[nodiscard]] const std::vector<Recipe>& recipes();
/// Returns null for an unknown name.
[[nodiscard]] const Recipe* findRecipe(const std::string& name);

/// Sets a parameter of every node that has the kind.
void setParam(Graph& graph, const std::string& kind, const std::string& key, const ParamValue& value);
/// Returns a network of `depth` layers of a block preset under the plain residual, without stem and head.
[[nodiscard]] Project sized(const std::string& block, std::int64_t depth, std::int64_t width, std::int64_t heads);
/// Returns the recipes of residual networks of convolutions.
[[nodiscard]] std::vector<Recipe> resnetRecipes();
/// Returns contrastive reinforcement learning in a world, as Wang et al. (2503.14858) have it: an actor, and towers for
/// steps, goals and the entropy coefficient, of `blocks` blocks of four layers under the plain residual.
[[nodiscard]] Project contrastiveLearning(const WorldData& world, std::int64_t blocks, std::int64_t width);
[[nodiscard]] std::vector<Recipe> contrastiveRecipes();
/// Returns the recipes of networks with loops.
[[nodiscard]] std::vector<Recipe> loopedRecipes();

} // namespace residua::projects
