// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/host/preparation.h"
#include "engine/init/fit_cache.h"
#include "engine/lowrank/attention_fit.h"
#include "projects/base/result.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace residua::engine {

/// What an attention's queries and keys are made of: [sequences, length, width] each.
struct AttentionInputs {
    at::Tensor forQueries;
    at::Tensor forKeys;
};
/// By the name of the node with its prefix: "layers.1.attention.".
using InputsByAttention = std::map<std::string, AttentionInputs>;

/// How long the sequences are that features are fitted on, and how many there are at most.
inline constexpr std::int64_t kFitLength = 48;
inline constexpr std::int64_t kFitSequences = 48;
[[nodiscard]] inline std::int64_t fitLength(std::int64_t context)
{
    return context < 1 ? kFitLength : std::min(context, kFitLength);
}

/// An attention by features, as it was declared.
struct AttentionFeatures {
    struct Heads {
        at::Tensor queries; ///< [sequences, heads, length, e]
        at::Tensor keys;    ///< [sequences, kvHeads, length, e]
    };
    std::string node;          ///< "layers.1.attention."
    std::size_t parameter = 0; ///< ω [kvHeads, r, e], among the plan's
    std::int64_t width = 0;    ///< of its inputs
    bool causal = true;
    bool fitted = true; ///< false: they start as they are drawn
    /// Its queries and keys by its weights as they are now, with norms and positions.
    std::function<Heads(const AttentionInputs& inputs)> headsOf;
};

/// The fits of the features, one for each key-value head. Without `inputs` for the node, both read the same standard
/// normal numbers, drawn by `seed` and the node's name.
[[nodiscard]] std::vector<AttentionProblem> attentionProblems(const AttentionFeatures& of, const at::Tensor& features,
                                                              const InputsByAttention& inputs, std::int64_t length,
                                                              std::int64_t seed);

/// Features and the problems of their heads.
struct FeatureFit {
    std::string name;                       ///< of the parameter
    at::Tensor features;                    ///< is written
    std::vector<AttentionProblem> problems; ///< one for each key-value head
};
/// As fitAll() of factors: side by side, the same bits on any number of threads, nothing written where it is given up.
[[nodiscard]] Result<std::vector<std::string>> fitFeatures(const std::vector<FeatureFit>& fits, const FitCache& cache,
                                                           const PreparationWatch& watch);

} // namespace residua::engine
