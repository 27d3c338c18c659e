// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <cstdint>

/// Attention with weights from positive features instead of a softmax (a Performer: Choromanski et al. 2020; appendix B
/// of "Nonlinear Initialization Methods for Low-Rank Neural Networks").
namespace residua::projects {

inline constexpr const char* kWeightsParam = "weights";
inline constexpr const char* kSoftmaxWeights = "softmax";
inline constexpr const char* kPerformerWeights = "performer";
inline constexpr const char* kFeaturesParam = "features";
inline constexpr const char* kFeaturesStartParam = "features_start";
inline constexpr const char* kFittedFeatures = "fitted";
inline constexpr const char* kDrawnFeatures = "drawn";

[[nodiscard]] inline bool usesFeatures(const ParamMap& attention)
{
    return paramText(attention, kWeightsParam) == kPerformerWeights;
}

/// The number of tokens in a chunk of causal attention by features. Pairs of tokens are formed only within a chunk;
/// earlier tokens contribute by a sum of features times values.
inline constexpr std::int64_t kFeatureChunk = 64;

/// Returns the average number of pairs formed per token of a sequence.
[[nodiscard]] inline double chunkPairs(std::int64_t context)
{
    const auto whole = static_cast<double>(context / kFeatureChunk);
    const auto rest = static_cast<double>(context % kFeatureChunk);
    constexpr auto kChunk = static_cast<double>(kFeatureChunk);
    return (whole * kChunk * kChunk + rest * rest) / static_cast<double>(std::max<std::int64_t>(context, 1));
}

} // namespace residua::projects
