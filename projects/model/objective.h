// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/element.h"

#include <cstddef>
#include <iterator>
#include <string_view>

namespace residua::projects {

/// The training objective. To add one, add an enumerator, its entry in kObjectives, and its computation in
/// engine/network/objectives.cpp. Only presets and examples choose by enumerator; other code uses the traits.
enum class Objective {
    NextToken,        ///< mean cross-entropy, nats per token
    HalfSquaredError, ///< ½ Σ over outputs of (f(x) − y)², mean over the batch (ANCRe §3)
    MeanSquaredError, ///< mean over batch and outputs
    Count,            ///< the number of objectives, not an objective
};

/// The quantity that a loss is the mean of. It is used to compare the loss with figures from elsewhere.
enum class MeanOf {
    TokenNats,        ///< −ln p of each token; e^loss is the perplexity
    HalfSquaredNorms, ///< ½‖f(x) − y‖² of each sample, as in ANCRe's theorems
    Squares,          ///< (f(x) − y)² of each output, as in DeepCrossAttention's risk and RaPTr's errors by degree
};

/// The metric that runs are compared by: the best checkpoint, tables, sweeps and the Pareto front use it.
struct Judge {
    enum class Better { Less, Greater };

    std::string_view quantity = "loss"; ///< recorded for each split, as "loss/train" and "loss/validation"
    Better better = Better::Less;
    /// True if `value` is better than `other`; false if one of them is NaN.
    [[nodiscard]] constexpr bool prefers(double value, double other) const
    {
        return better == Better::Less ? value < other : value > other;
    }
    bool operator==(const Judge&) const = default;
};

/// The properties of one objective for all code outside the engine.
struct ObjectiveTraits {
    Objective objective = Objective::NextToken;
    std::string_view key;           ///< name in the file
    std::string_view title;         ///< name within a sentence
    std::string_view predicts;      ///< the output of the head, short enough for a box on a canvas
    Element target = Element::Real; ///< type of the target; for Token the head's output is logits
    MeanOf meanOf = MeanOf::TokenNats;
    /// The description in exported code, without a full stop.
    std::string_view words;
    /// The loss as a PyTorch expression of `output` and `targets` (Token) or `target` (Real).
    std::string_view pyTorch;
    Judge judge = {};
};

/// Ordered as the enumerators, which is the order of the choices. A fix for an unsuitable objective chooses the first
/// that fits the data.
inline constexpr ObjectiveTraits kObjectives[] = {
    {.objective = Objective::NextToken,
     .key = "next_token",
     .title = "next token",
     .predicts = "next token",
     .target = Element::Token,
     .meanOf = MeanOf::TokenNats,
     .words = "The mean cross-entropy of each next token, in nats",
     .pyTorch = "F.cross_entropy(output.flatten(0, -2), targets.flatten())"},
    {.objective = Objective::HalfSquaredError,
     .key = "half_squared_error",
     .title = "half squared error",
     .predicts = "output",
     .target = Element::Real,
     .meanOf = MeanOf::HalfSquaredNorms,
     .words = "½ Σ (output - target)² over the outputs, as a mean over the batch",
     .pyTorch = "0.5 * (output - target).square().sum() / output.shape[0]"},
    {.objective = Objective::MeanSquaredError,
     .key = "mean_squared_error",
     .title = "mean squared error",
     .predicts = "output",
     .target = Element::Real,
     .meanOf = MeanOf::Squares,
     .words = "(output - target)² as a mean over batch and outputs",
     .pyTorch = "(output - target).square().mean()"},
};

/// True if a table such as kObjectives has an entry for each objective in the order of the enumerators.
[[nodiscard]] consteval bool hasEachObjective(const auto& table)
{
    for (std::size_t i = 0; i < std::size(table); ++i) {
        if (table[i].objective != static_cast<Objective>(i)) {
            return false;
        }
    }
    return std::size(table) == static_cast<std::size_t>(Objective::Count);
}
static_assert(hasEachObjective(kObjectives));

[[nodiscard]] constexpr const ObjectiveTraits& traitsOf(Objective objective)
{
    return kObjectives[static_cast<std::size_t>(objective)];
}

} // namespace residua::projects
