// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/depth/mix_port.h"
#include "projects/depth/weight_scale.h"

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace residua::engine {

/// Kinds of recorded matrices (values.h, Matrix); a run may have others, of programs that come later.
namespace matrix {
// Of shortcuts: targets by sources.
inline constexpr const char* kMix = "mix";                 ///< the weight that is applied: p under a softmax
inline constexpr const char* kCoefficient = "coefficient"; ///< what is learned: c
inline constexpr const char* kSpread = "spread";           ///< the standard deviation of the weight over features
inline constexpr const char* kFeature = "feature";         ///< the weight of a single feature; made, never recorded
/// One row: 1 for each layer that the step ran whole, 0 for one that it left out, else the share of its heads or MLP
/// parts that it ran. Absent while every layer runs.
inline constexpr const char* kActive = "active";

// Of residual streams: what each layer reads of them, writes to them, and hands on from each (a row) to each (a
// column).
inline constexpr const char* kStreamRead = "read";   ///< layers by streams
inline constexpr const char* kStreamWrite = "write"; ///< layers by streams
inline constexpr const char* kStreamCarry = "carry"; ///< n rows of each layer, by streams

// Of layers (row_curves.h): a column for each.
/// How large the layers' values were in the training step: a column per layer (per half where the topology splits
/// layers), the root mean square over features and examples; a row of what the layer reads, the residual stream or the
/// mix that stands for it, and one of the branch that it computes from that. NaN: the layer was left out.
inline constexpr const char* kLayerMagnitudes = "norms";
/// One row, the effective rank of what each layer (or half, as above) reads: (Σσ²)²/Σσ⁴ of the singular values σ of its
/// inputs, a row of features for each example or token. From 1 to the smaller of both counts. NaN: the layer was left
/// out, or all that it reads is 0.
inline constexpr const char* kReadRanks = "ranks";
/// One row, the norm of the loss's gradient by the parameters of each layer, before clipping. NaN: the layer was left
/// out, or has no parameters.
inline constexpr const char* kLayerGradients = "norms of gradients";
/// What the network does without each of its layers (RaPTr, section 5): a column per layer, a row per StabilityRow,
/// over held examples. NaN: the layer is not there yet, or cannot be left out.
inline constexpr const char* kStability = "stability";
/// One number: L(F) − (1/L)·Σ L(F₋ₗ).
inline constexpr const char* kStabilityGap = "stability gap";
/// One row, a column per degree from 1: Σ(c − ĉ)²/Σc² over the target's terms of that degree (RaPTr, section 3).
inline constexpr const char* kDegreeErrors = "degree errors";
} // namespace matrix

/// What a recorded matrix is of, and whose mix. Its text, which stores, tables and pages have, is "mix", or "mix/q"
/// where a layer has several.
struct MatrixName {
    std::string kind;
    projects::MixPort port = projects::MixPort::Input;

    MatrixName() = default;
    /// A literal text: matrix::kMix, "mix/q".
    MatrixName(const char* text) : MatrixName(from(text)) {}
    explicit MatrixName(std::string of, projects::MixPort at = projects::MixPort::Input) : kind(std::move(of)), port(at)
    {
    }

    /// The name of which text() gives `text`. One that ends in no port's name is all kind.
    [[nodiscard]] static MatrixName from(std::string_view text);
    [[nodiscard]] std::string text() const;
    /// Whether it is of what a shortcut has: its weight, its coefficient or their spread.
    [[nodiscard]] bool isOfShortcuts() const;
    /// What its numbers are, which says how they are coloured.
    [[nodiscard]] projects::WeightQuantity quantity() const;
    /// In the order in which they are listed: weights as applied first, then ports in theirs.
    friend std::strong_ordering operator<=>(const MatrixName& a, const MatrixName& b);
    bool operator==(const MatrixName&) const = default;
};

} // namespace residua::engine
