// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/machine/preparation.h"
#include "engine/compute/init/fit_cache.h"
#include "engine/maths/lowrank/attention_fit.h"
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

/// The inputs of an attention's queries and keys: [sequences, length, width] each.
struct AttentionInputs {
    at::Tensor forQueries;
    at::Tensor forKeys;
};
/// By the node's name with its prefix: "layers.1.attention.".
using InputsByAttention = std::map<std::string, AttentionInputs>;

/// The length in tokens and the maximum number of the sequences for fitting features.
inline constexpr std::int64_t kFitLength = 48;
inline constexpr std::int64_t kFitSequences = 48;
[[nodiscard]] inline std::int64_t fitLength(std::int64_t context)
{
    return context < 1 ? kFitLength : std::min(context, kFitLength);
}

/// An attention with features, as declared.
struct AttentionFeatures {
    struct Heads {
        at::Tensor queries; ///< [sequences, heads, length, e]
        at::Tensor keys;    ///< [sequences, kvHeads, length, e]
    };
    std::string node;          ///< "layers.1.attention."
    std::size_t parameter = 0; ///< ω [kvHeads, r, e], an index into the plan's parameters
    std::int64_t width = 0;    ///< of its inputs
    bool causal = true;
    bool fitted = true; ///< false: the features start as drawn
    /// Returns the queries and keys by the current weights, after norm and rotation.
    std::function<Heads(const AttentionInputs& inputs)> headsOf;
};

/// Returns the fits of the features, one for each key-value head. Without `inputs` for the node, queries and keys read
/// the same standard normal numbers, drawn from `seed` and the node's name.
[[nodiscard]] std::vector<AttentionProblem> attentionProblems(const AttentionFeatures& of, const at::Tensor& features,
                                                              const InputsByAttention& inputs, std::int64_t length,
                                                              std::int64_t seed);

/// Features and the problems of their heads.
struct FeatureFit {
    std::string name;                       ///< of the parameter
    at::Tensor features;                    ///< the output
    std::vector<AttentionProblem> problems; ///< one for each key-value head
};
/// Runs all fits, with parallelism, cache and errors as fitAll() in factor_fits.h.
[[nodiscard]] Result<std::vector<std::string>> fitFeatures(const std::vector<FeatureFit>& fits, const FitCache& cache,
                                                           const PreparationWatch& watch);

} // namespace residua::engine
