// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/element.h"

#include <cstddef>
#include <iterator>
#include <string_view>

namespace residua::projects {

/// What the network is trained to do. A new one is an enumerator with its entry in kObjectives, and its computation in
/// engine/network/objectives.cpp. Presets and examples choose one; all others ask for its traits.
enum class Objective {
    NextToken,        ///< mean cross-entropy, nats per token
    HalfSquaredError, ///< ½ Σ over outputs of (f(x) − y)², mean over the batch (ANCRe §3)
    MeanSquaredError, ///< mean over batch and outputs
    Count,            ///< how many there are; none itself
};

/// What a loss is the mean of, for whoever compares it with figures that are not of a run.
enum class MeanOf {
    TokenNats,        ///< −ln p of each token: e^loss is the perplexity
    HalfSquaredNorms, ///< ½‖f(x) − y‖² of each sample, as ANCRe's theorems have it
    Squares,          ///< (f(x) − y)² of each output, as in DeepCrossAttention's risk and RaPTr's errors by degree
};

/// One objective, as everybody but the engine knows it.
struct ObjectiveTraits {
    Objective objective = Objective::NextToken;
    std::string_view key;           ///< in the file
    std::string_view title;         ///< as within a sentence
    std::string_view predicts;      ///< what the head gives, in as few words as a canvas's box has room for
    Element target = Element::Real; ///< of the examples' target: of tokens the head's output has logits, else it is
                                    ///< compared with the target itself
    MeanOf meanOf = MeanOf::TokenNats;
    /// What exported code says that it computes, without a full stop.
    std::string_view words;
    /// The loss as a PyTorch expression of `output` and `targets`, where the target is of tokens, or `target`.
    std::string_view pyTorch;
};

/// In the order of the enumerators, which is that of the choices. The first that fits the data is what cures another.
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

/// Whether a table such as kObjectives has an entry for each objective, in the order of the enumerators.
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
