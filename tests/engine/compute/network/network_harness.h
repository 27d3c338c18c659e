// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/network/network.h"
#include "projects/model/project.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace residua::tests {

[[nodiscard]] inline engine::Pass passIn(engine::Mode mode)
{
    engine::Pass pass;
    pass.mode = mode;
    return pass;
}
inline const engine::Pass kTraining = passIn(engine::Mode::Training);
inline const engine::Pass kEvaluation = passIn(engine::Mode::Evaluation);

/// The network, compiled and initialised; throws std::runtime_error with the error's text where there is one.
[[nodiscard]] std::unique_ptr<engine::CompiledNetwork> compiled(const projects::Project& project,
                                                                engine::SumOrder sums = engine::SumOrder::ByHalf);
/// The text of the error with which compiling ends; empty where it does not.
[[nodiscard]] std::string compileError(const projects::Project& project);

/// Returns the pointer of the first error of a document; empty if it is valid.
[[nodiscard]] std::string firstErrorPath(const projects::Project& project);
/// Returns the errors of a document, a line each.
[[nodiscard]] std::string errorsOf(const projects::Project& project);

/// The parameter of that name; throws where there is none.
[[nodiscard]] at::Tensor parameter(engine::CompiledNetwork& network, const std::string& name);
[[nodiscard]] std::int64_t parameterCount(engine::CompiledNetwork& network);

/// A seeded batch of the document's kind and precision. Labelled texts are padded: each is a token shorter than the one
/// before, down to one.
[[nodiscard]] engine::DeviceBatch randomBatch(const projects::Project& project, std::int64_t batch, std::int64_t time,
                                              std::uint64_t seed);
/// Standard normal numbers of a seed, in double.
[[nodiscard]] at::Tensor randomTensor(at::IntArrayRef shape, std::uint64_t seed);
/// The same times `scale`, as a leaf that takes a gradient.
[[nodiscard]] at::Tensor leaf(at::IntArrayRef shape, std::uint64_t seed, double scale = 1);

/// Moves every parameter off the symmetric or zero place where it starts, by seeded noise, and buffers upwards.
void shake(engine::CompiledNetwork& network, double scale, std::uint64_t seed);

/// A small language model in double precision: vocabulary 11, width 8, 2 heads, `depth` layers of a block preset under
/// a topology preset.
[[nodiscard]] projects::Project tinyLanguage(const std::string& block, const std::string& topology, std::int64_t depth);
/// The same network on labelled texts of 3 classes: attention in both directions that does not read padding, and a head
/// on the mean of the tokens. With pairs, the stem adds an embedding of the text that each token belongs to.
[[nodiscard]] projects::Project tinyClassifier(const std::string& topology, std::int64_t depth, bool pairs = false);
/// Vectors of 6 features through `depth` layers, in and out as they are, in double precision.
[[nodiscard]] projects::Project tinyVectors(const std::string& block, const std::string& topology, std::int64_t depth);
/// The network of an example of pictures, in double precision on pictures of 16 × 16 pixels: small-resnet with
/// functions that have a gradient everywhere, or small-efficientnet.
[[nodiscard]] projects::Project tinyPictures(const std::string& example);
/// Makes the towers read pictures of `side` × `side` pixels, and sets the rates of dropout to 0.
void shrinkPictures(projects::Project& project, std::int64_t side);
/// Sets the rates of all nodes of dropout to 0.
void removeDropout(projects::Project& project);
/// The wiring of a topology preset.
[[nodiscard]] projects::Topology topologyNamed(const std::string& name, std::int64_t depth);
/// The wiring of a preset as it fits the blocks of a network.
[[nodiscard]] projects::Topology topologyNamed(const std::string& name, const projects::Network& network);

/// The gradients of all parameters after those of each group of losses, undefined ones as zeros, and the judged loss.
struct StepGradients {
    std::vector<at::Tensor> gradients;
    at::Tensor judged;
};
/// Adds the gradients of all groups of losses on a batch, in training. With `sharesValues`, as a step does.
[[nodiscard]] StepGradients stepGradients(engine::CompiledNetwork& network, const engine::DeviceBatch& batch,
                                          bool sharesValues);

/// Largest absolute difference, as a double.
[[nodiscard]] double distance(const at::Tensor& a, const at::Tensor& b);

/// Largest difference of the parameters' gradients of two tensors that come from them, under one random probe; a
/// gradient that is missing counts as zeros.
[[nodiscard]] double gradientDistance(engine::CompiledNetwork& network, const at::Tensor& a, const at::Tensor& b);

/// Returns the fault of the project's loss in single precision and in bf16 against the same network in double: within
/// 1e-5, and within `bf16` with gradients in single precision for every parameter. Empty where it is close.
[[nodiscard]] std::string precisionFault(projects::Project project, double bf16);

/// Compares `samples` elements of every parameter's gradient with central differences of the pass's loss. Returns the
/// largest difference relative to 1 + |gradient|, and the name of its parameter. Gradients must have been computed.
struct GradientCheck {
    double worst = 0;
    std::string name;
};
[[nodiscard]] GradientCheck checkGradients(engine::CompiledNetwork& network, const engine::DeviceBatch& batch,
                                           int samples, const engine::Pass& pass = kTraining);

} // namespace residua::tests
