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
/// Sets the hidden features of a SwiGLU.
void setHidden(Network& network, const ParamValue& hidden);
/// Gives a language model text of `vocabulary` tokens.
void readText(Project& project, std::int64_t vocabulary);
/// Sets steps of `sequences` sequences, in micro-batches of `batch`.
void setSteps(TrainingPlan& plan, std::int64_t length, std::int64_t sequences, std::int64_t batch, std::int64_t steps);
/// Returns pictures of three channels that a person names later.
[[nodiscard]] PictureData picturesOf(std::int64_t side, std::int64_t classes);
/// Returns pictures in 1,000 classes with the crops and flips of torchvision's reference training. A hundredth
/// validate.
[[nodiscard]] DataSource imageNetOf(std::int64_t side);
/// A stage of a network of convolutions: its stem, and `layers` layers of one block and width.
struct ImageStage {
    std::string name;
    std::int64_t width = 0;
    Graph stem;
    Block block;
    std::int64_t layers = 1;
};
/// Returns a project whose stages are towers. Each reads the states of the one before. The last stage is the first
/// tower of the document, which has the head.
[[nodiscard]] Project chainOf(std::vector<ImageStage> stages, Graph head);
/// Returns the stems, heads and blocks of all towers.
[[nodiscard]] std::vector<Graph*> graphsOf(Project& project);
/// Sets the plan of NLRA's section 4, for weights of full rank: 62,000 steps of 4,096.
void trainAsNlra(Project& project);
/// Puts every convolution without groups in two factors by side, and leaves linear layers whole.
void factorAsNlra(Project& project);
/// Returns the recipes of residual networks of convolutions.
[[nodiscard]] std::vector<Recipe> resnetRecipes();
/// Returns contrastive reinforcement learning in a world, as Wang et al. (2503.14858) have it: an actor, and towers for
/// steps, goals and the entropy coefficient, of `blocks` blocks of four layers under the plain residual.
[[nodiscard]] Project contrastiveLearning(const WorldData& world, std::int64_t blocks, std::int64_t width);
[[nodiscard]] std::vector<Recipe> contrastiveRecipes();
/// Returns the recipes of EfficientNets.
[[nodiscard]] std::vector<Recipe> efficientNetRecipes();
/// Returns the recipes of diffusion transformers.
[[nodiscard]] std::vector<Recipe> ditRecipes();
/// Returns the recipes of networks with loops.
[[nodiscard]] std::vector<Recipe> loopedRecipes();

} // namespace residua::projects
