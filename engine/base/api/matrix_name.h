// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace residua::engine {

/// Kinds of recorded matrices (values.h, Matrix). Runs of later programs may have others.
namespace matrix {
// Matrices of shortcuts: targets by sources.
inline constexpr const char* kMix = "mix";                 ///< the applied weight: p under a softmax
inline constexpr const char* kCoefficient = "coefficient"; ///< the learned parameter: c
inline constexpr const char* kSpread = "spread";           ///< the standard deviation of the weight over features
inline constexpr const char* kFeature = "feature";         ///< the weight of a single feature; computed, never recorded
/// One row: 1 for each layer that the step ran whole, 0 for each that it left out, else the fraction of its heads or
/// MLP parts that it ran. Absent while every layer runs.
inline constexpr const char* kActive = "active";

// Matrices of residual streams: what each layer reads from them, writes to them, and carries from each stream (row) to
// each (column).
inline constexpr const char* kStreamRead = "read";   ///< layers by streams
inline constexpr const char* kStreamWrite = "write"; ///< layers by streams
inline constexpr const char* kStreamCarry = "carry"; ///< n rows of each layer, by streams

// Matrices of layers (row_curves.h): one column per layer.
/// The magnitudes of the layers' values in the training step: the root mean square over features and examples. One
/// column per layer (per half if the topology splits layers). The first row is the layer's input (the residual stream
/// or a mix), the second the branch that it computes. NaN if the layer was left out.
inline constexpr const char* kLayerMagnitudes = "norms";
/// One row: the effective rank (Σσ²)²/Σσ⁴ of each layer's (or half's) input, where σ are the singular values of a
/// matrix with a row of features per example or token. Between 1 and the smaller dimension. NaN if the layer was left
/// out or its input is 0.
inline constexpr const char* kReadRanks = "ranks";
/// One row: the norm of the loss's gradient with respect to each layer's parameters, before clipping. NaN if the layer
/// was left out or has no parameters.
inline constexpr const char* kLayerGradients = "norms of gradients";
/// The effect of leaving out each layer (RaPTr, section 5) on held-out examples: one column per layer, one row per
/// StabilityRow. NaN if the layer does not exist yet or cannot be left out.
inline constexpr const char* kStability = "stability";
/// One number: L(F) − (1/L)·Σ L(F₋ₗ).
inline constexpr const char* kStabilityGap = "stability gap";
/// One row, one column per degree from 1: Σ(c − ĉ)²/Σc² over the target's terms of that degree (RaPTr, section 3).
inline constexpr const char* kDegreeErrors = "degree errors";
/// The examples of the validation by their class (row) and the class with the largest output (column), counted. The sum
/// of a row is the number of examples of its class. Recorded up to kMostConfusedClasses.
inline constexpr const char* kConfusion = "confusion";
inline constexpr std::int64_t kMostConfusedClasses = 100;
/// A picture of episodes of a validation in a world: one row per interval of y, one column per interval of x. The cells
/// are kFree, or one of the others.
inline constexpr const char* kRollout = "rollout";
inline constexpr std::int64_t kRolloutSide = 64; ///< rows and columns
inline constexpr float kFree = 0;
inline constexpr float kWall = 0.25F;
inline constexpr float kPath = 0.6F; ///< where the body was
inline constexpr float kGoal = 1;
/// These values with their names in English.
inline constexpr std::pair<float, const char*> kRolloutCells[] = {
    {kFree, "free"}, {kWall, "wall"}, {kPath, "path"}, {kGoal, "goal"}};
/// Images that a diffusion model made after a step, as one picture on white. Each cell is a pixel: its red, green and
/// blue of 0 to 255 as one number, 65536 r + 256 g + b. At most kSamplesSide rows and columns.
inline constexpr const char* kSamples = "samples";
inline constexpr std::int64_t kSamplesSide = 272; ///< 16 images of 64 × 64; larger ones are shrunk
} // namespace matrix

/// The name of a recorded matrix: its kind, and the port that the mix feeds. As text, in stores, tables and pages:
/// "mix", or "mix/q" if a layer has several mixes.
struct MatrixName {
    std::string kind;
    projects::MixPort port = projects::MixPort::Input;

    MatrixName() = default;
    /// Converts a string literal: matrix::kMix, "mix/q".
    MatrixName(const char* text) : MatrixName(from(text)) {}
    explicit MatrixName(std::string of, projects::MixPort at = projects::MixPort::Input) : kind(std::move(of)), port(at)
    {
    }

    /// Parses a name, the inverse of text(). If no port's name follows a slash, the whole text is the kind.
    [[nodiscard]] static MatrixName from(std::string_view text);
    [[nodiscard]] std::string text() const;
    /// True if the matrix describes shortcuts: their weights (of all features or of one), coefficients or spreads.
    [[nodiscard]] bool isOfShortcuts() const;
    /// True if the matrix describes neither shortcuts nor layers, but the outputs: it remains valid for another wiring.
    [[nodiscard]] bool isOfOutputs() const
    {
        return kind == matrix::kConfusion || kind == matrix::kRollout || kind == matrix::kSamples;
    }
    /// Returns the quantity in the matrix, which decides its colours.
    [[nodiscard]] projects::WeightQuantity quantity() const;
    /// Orders names for lists: applied weights first, then by port.
    friend std::strong_ordering operator<=>(const MatrixName& a, const MatrixName& b);
    bool operator==(const MatrixName&) const = default;
};

} // namespace residua::engine
