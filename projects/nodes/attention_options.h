// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/node_kinds.h"

#include <compare>
#include <cstdint>

/// What an attention node's parameters say beside its sizes: biases, norms of queries and keys, positions, window.
namespace residua::projects {

inline constexpr const char* kBiasParam = "bias";
inline constexpr const char* kNoBias = "none";
inline constexpr const char* kQkvBias = "qkv"; ///< on the projections that make q, k and v
inline constexpr const char* kAllBiases = "all";

inline constexpr const char* kQkNormParam = "qk_norm";
inline constexpr const char* kNoQkNorm = "none";
inline constexpr const char* kHeadNorm = "head";
inline constexpr const char* kAllHeadsNorm = "all";

inline constexpr const char* kWindowParam = "window";
inline constexpr const char* kRopeParam = "rope";
inline constexpr const char* kRopeBaseParam = "rope_base";
inline constexpr const char* kRotaryShareParam = "rotary_share";
inline constexpr const char* kRopeScalingParam = "rope_scaling";
inline constexpr const char* kNoScaling = "none";
inline constexpr const char* kLinearScaling = "linear";
inline constexpr const char* kLlama3Scaling = "llama3";
inline constexpr const char* kRopeFactorParam = "rope_factor";
inline constexpr const char* kRopeLowParam = "rope_low_frequency";
inline constexpr const char* kRopeHighParam = "rope_high_frequency";
inline constexpr const char* kRopeOriginalParam = "rope_original_length";

/// Which projections have biases.
enum class AttentionBias {
    None,
    Qkv, ///< those that make q, k and v
    All, ///< and the output's
};
[[nodiscard]] AttentionBias attentionBiasOf(const ParamMap& attention);
/// The parameter's value for it.
[[nodiscard]] const char* wordOf(AttentionBias bias);
[[nodiscard]] inline bool hasQkvBias(const ParamMap& attention)
{
    return attentionBiasOf(attention) != AttentionBias::None;
}
[[nodiscard]] inline bool hasOutBias(const ParamMap& attention)
{
    return attentionBiasOf(attention) == AttentionBias::All;
}

/// What an RMS norm of queries and keys is over, before they rotate.
enum class QkNorm {
    None,
    Head,     ///< the features of each head, whose weights all heads share
    AllHeads, ///< the features of all heads
};
[[nodiscard]] QkNorm qkNormOf(const ParamMap& attention);
/// The parameter's value for it.
[[nodiscard]] const char* wordOf(QkNorm norm);

/// How the frequencies of rotary positions are slowed for sequences longer than those of the first training.
enum class RopeScaling {
    None,
    Linear, ///< all by the factor
    Llama3, ///< those whose waves are longer than the original length allows by the factor, short ones not
};

/// Which features of a head rotate, and how fast. Features i and i + features/2 turn by position · frequency_i, where
/// frequency_i = base^(−2i/features), scaled:
///   linear: frequency / factor
///   llama3: frequency · (s + (1 − s)/factor), s = (original/wavelength − low)/(high − low) cut to [0, 1], with
///           wavelength = 2π/frequency (Llama 3.1)
struct RotaryPositions {
    std::int64_t features = 0; ///< the first of a head, even; 0: none rotates
    double base = 10000;
    RopeScaling scaling = RopeScaling::None;
    double factor = 8;
    double low = 1;
    double high = 4;
    std::int64_t original = 8192; ///< tokens
    auto operator<=>(const RotaryPositions&) const = default;
};
/// The rotary positions of an attention with heads of `headDim` features; numbers that the scaling does not use have
/// their defaults. Precondition: the share's features are even, which the node's shape rule checks.
[[nodiscard]] RotaryPositions rotaryOf(const ParamMap& attention, std::int64_t headDim);
/// The parameters that describe these positions, with the share of a head's features that rotates; without rotation
/// kRopeParam alone.
[[nodiscard]] ParamMap rotaryParams(const RotaryPositions& positions, double share);
/// The features that a share of `headDim` is.
[[nodiscard]] std::int64_t rotatingFeatures(double share, std::int64_t headDim);

/// Keys that a query sees, on average over a sequence of `context` tokens: half of them where causal, and within a
/// window w of them w − w²/2T.
[[nodiscard]] double keysSeen(const ParamMap& attention, std::int64_t context);

} // namespace residua::projects
