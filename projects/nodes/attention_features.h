// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <cstdint>

/// Attention whose weights are made of positive features instead of a softmax (a Performer: Choromanski et al. 2020;
/// appendix B of "Nonlinear Initialization Methods for Low-Rank Neural Networks").
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

/// Causal attention by features goes through time in chunks of so many tokens: pairs of tokens are formed within a
/// chunk alone, and what lies before it is a sum of features by values.
inline constexpr std::int64_t kFeatureChunk = 64;

/// Pairs of tokens that are formed for each token of a sequence, on average.
[[nodiscard]] inline double chunkPairs(std::int64_t context)
{
    const auto whole = static_cast<double>(context / kFeatureChunk);
    const auto rest = static_cast<double>(context % kFeatureChunk);
    constexpr auto kChunk = static_cast<double>(kFeatureChunk);
    return (whole * kChunk * kChunk + rest * rest) / static_cast<double>(std::max<std::int64_t>(context, 1));
}

} // namespace residua::projects
