// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/queries/measures/loaded_model.h"
#include "engine/maths/theory/dense_matrix.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::engine {

/// Compares images that a model made with those of a split by the features of a network that classifies such images.
/// Engine thread.
class ImageFeatures {
public:
    /// Loads the network of a run. `images` is the project whose images are compared. Returns an error if the run
    /// classifies no images of their size and normalisation.
    [[nodiscard]] static Result<ImageFeatures> load(const RunRef& of, const projects::Project& images,
                                                    const PreparationWatch& watch);

    /// Returns the features of images, a row for each. `values` has those of each image as networks read them.
    [[nodiscard]] DenseMatrix of(std::span<const float> values);
    /// Returns the features of the first `count` images of a split, or of all.
    [[nodiscard]] Result<DenseMatrix> ofSplit(const Dataset& images, Split split, std::int64_t count);
    /// Returns the network in words: its run, its step, and the number of its features.
    [[nodiscard]] std::string text() const;

private:
    explicit ImageFeatures(LoadedModel model, std::string run) : m_model(std::move(model)), m_run(std::move(run)) {}

    LoadedModel m_model;
    std::string m_run;
    std::int64_t m_features = 0;
};

/// Returns the quantities of EvaluationReady that compare two sets of features: frechet_distance, precision and recall.
/// Precision and recall are of at most kMostNeighbours rows each.
[[nodiscard]] std::map<std::string, double> comparedFeatures(const DenseMatrix& real, const DenseMatrix& made);
inline constexpr std::int64_t kMostNeighbours = 10'000;

} // namespace residua::engine
