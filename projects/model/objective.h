// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace residua::projects {

/// The type of the values of a wire or of a field of the examples.
enum class Element { Real, Token };

/// The training objective. To add one, add an enumerator, its entry in kObjectives, and its computation in
/// engine/compute/network/objectives.cpp. Only presets and examples choose by enumerator; other code uses the traits.
enum class Objective {
    NextToken,        ///< mean cross-entropy, nats per token
    HalfSquaredError, ///< ½ Σ over outputs of (f(x) − y)², mean over the batch (ANCRe §3)
    MeanSquaredError, ///< mean over batch and outputs
    Classification,   ///< mean cross-entropy of one label per example, nats
    MaskedToken,      ///< mean cross-entropy of the hidden tokens, nats (BERT)
    Denoising,        ///< mean cross-entropy of the tokens of hidden spans, nats (UL2)
    TimeAtGoal, ///< of worlds: the steps of an episode at the goal; on examples, mean squared error of their actions
    Diffusion,  ///< mean squared error of the noise in an example, with a bound in bits for learned variances (DiT)
    Count,      ///< the number of objectives, not an objective
};

/// The quantity that a loss is the mean of. It is used to compare the loss with figures from elsewhere.
enum class MeanOf {
    TokenNats,        ///< −ln p of each token; e^loss is the perplexity
    HalfSquaredNorms, ///< ½‖f(x) − y‖² of each sample, as in ANCRe's theorems
    Squares,          ///< (f(x) − y)² of each output, as in DeepCrossAttention's risk and RaPTr's errors by degree
    LabelNats,        ///< −ln p of each example's label
    HiddenNats,       ///< −ln p of each hidden token
    NoiseSquares,     ///< (ε_θ − ε)² of each value; with learned variances also the variational term in bits
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

/// The targets of an objective.
enum class TargetOf {
    Token,   ///< a token for each token of the input
    Hidden,  ///< a token for each token of the input; those that were not hidden are kIgnoredTarget
    Example, ///< one label or vector for each example
};
/// The target of a token that an objective leaves out, as in PyTorch.
inline constexpr std::int64_t kIgnoredTarget = -100;

/// The properties of one objective for all code outside the engine.
struct ObjectiveTraits {
    Objective objective = Objective::NextToken;
    std::string_view key;           ///< name in the file
    std::string_view title;         ///< name within a sentence
    std::string_view predicts;      ///< the output of the head, short enough for a box on a canvas
    Element target = Element::Real; ///< type of the target; for Token the head's output is logits
    MeanOf meanOf = MeanOf::TokenNats;
    TargetOf targetOf = TargetOf::Example;
    /// The description in exported code, without a full stop.
    std::string_view words;
    /// The loss as a PyTorch expression of `output` and `targets` (Token) or `target` (Real).
    std::string_view pyTorch;
    /// True if an example is a text with hidden spans, which all tokens see, and then the spans.
    bool denoises = false;
    /// True if it is judged by acting in a world.
    bool acts = false;
    /// True if an example is noise mixed with an image, whose class and step are conditions (projects::Diffusion).
    bool diffuses = false;
    bool smooths = false; ///< true if it has label smoothing, which `pyTorch` then ends with
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
     .targetOf = TargetOf::Token,
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
    {.objective = Objective::Classification,
     .key = "classification",
     .title = "classification",
     .predicts = "class",
     .target = Element::Token,
     .meanOf = MeanOf::LabelNats,
     .words = "The mean cross-entropy of each example's label, in nats",
     .pyTorch = "F.cross_entropy(output, targets)",
     .smooths = true},
    {.objective = Objective::MaskedToken,
     .key = "masked_token",
     .title = "masked token",
     .predicts = "hidden token",
     .target = Element::Token,
     .meanOf = MeanOf::HiddenNats,
     .targetOf = TargetOf::Hidden,
     .words = "The mean cross-entropy of each hidden token, in nats; other targets are -100",
     .pyTorch = "F.cross_entropy(output.flatten(0, -2), targets.flatten())"},
    {.objective = Objective::Denoising,
     .key = "mixture_of_denoisers",
     .title = "mixture of denoisers",
     .predicts = "next token",
     .target = Element::Token,
     .meanOf = MeanOf::HiddenNats,
     .targetOf = TargetOf::Token,
     .words = "The mean cross-entropy of each token of hidden spans, in nats; other targets are -100",
     .pyTorch = "F.cross_entropy(output.flatten(0, -2), targets.flatten())",
     .denoises = true},
    {.objective = Objective::TimeAtGoal,
     .key = "time_at_goal",
     .title = "time at goal",
     .predicts = "action",
     .target = Element::Real,
     .meanOf = MeanOf::Squares,
     .words = "(output - target)² as a mean over batch and actions; acting is judged by the steps at the goal",
     .pyTorch = "(output - target).square().mean()",
     .acts = true,
     .judge = {.quantity = "time_at_goal", .better = Judge::Better::Greater}},
    {.objective = Objective::Diffusion,
     .key = "denoising_diffusion",
     .title = "denoising diffusion",
     .predicts = "noise",
     .target = Element::Real,
     .meanOf = MeanOf::NoiseSquares,
     .words = "The mean squared error of the noise; learned variances have a term of their own",
     .pyTorch = "(output[:, :target.shape[1]] - target).square().mean()",
     .diffuses = true},
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

/// The use of a trained model on a sample: it continues a text, fills the hidden tokens of one, names classes, or makes
/// images.
enum class SampleUse { None, Continue, Fill, Classify, Generate };
[[nodiscard]] constexpr SampleUse sampleUseOf(Objective objective)
{
    const ObjectiveTraits& traits = traitsOf(objective);
    if (traits.diffuses) {
        return SampleUse::Generate;
    }
    switch (traits.targetOf) {
    case TargetOf::Token:
        return SampleUse::Continue;
    case TargetOf::Hidden:
        return SampleUse::Fill;
    case TargetOf::Example:
        break;
    }
    return traits.target == Element::Token ? SampleUse::Classify : SampleUse::None;
}

} // namespace residua::projects
