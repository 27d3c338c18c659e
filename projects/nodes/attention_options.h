// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/node_kinds.h"

#include <compare>
#include <cstdint>

/// Parameters of an attention node other than its sizes: biases, norms of queries and keys, positions, window.
namespace residua::projects {

inline constexpr const char* kBiasParam = "bias";
inline constexpr const char* kNoBias = "none";
inline constexpr const char* kQkBias = "qk";   ///< on the projections to q and k
inline constexpr const char* kQkvBias = "qkv"; ///< on those to q, k and v
inline constexpr const char* kAllBiases = "all";

inline constexpr const char* kQkNormParam = "qk_norm";
inline constexpr const char* kNoQkNorm = "none";
inline constexpr const char* kHeadNorm = "head";
inline constexpr const char* kAllHeadsNorm = "all";

/// The parameter of a node that reads a sequence's padding mask, and the port that it adds for it: [batch, time], 1 for
/// a token and 0 for padding.
inline constexpr const char* kMaskedParam = "masked";
/// The parameter of sinusoidal positions in a grid.
inline constexpr const char* kColumnsParam = "columns";
/// The parameter of sinusoidal positions in a sequence: sine and cosine in turn, or all sines before all cosines.
inline constexpr const char* kWavesParam = "waves";
inline constexpr const char* kWavesInTurn = "in turn";
inline constexpr const char* kWavesInHalves = "halves";
/// The parameter of sinusoidal positions in a grid: the exponent of the last frequency of n is 1, as in ViT, or
/// (n − 1)/n, as in DiT.
inline constexpr const char* kLastWaveParam = "last_wave";
inline constexpr const char* kLastWaveAtBase = "at base";
inline constexpr const char* kLastWaveBefore = "before base";
inline constexpr const char* kMaskPort = "mask";
/// The parameter of a segment embedding that reads the segment of each token, and the port that it adds for it.
inline constexpr const char* kPairedParam = "paired";
inline constexpr const char* kSegmentsPort = "segments";

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

/// The projections that have biases.
enum class AttentionBias {
    None,
    Qk,  ///< the projections to q and k
    Qkv, ///< those to q, k and v
    All, ///< those and the output projection
};
[[nodiscard]] AttentionBias attentionBiasOf(const ParamMap& attention);
/// Returns the parameter's value for `bias`.
[[nodiscard]] const char* wordOf(AttentionBias bias);
/// True if the projection "q", "k", "v" or "out" has a bias.
[[nodiscard]] bool hasBias(AttentionBias bias, std::string_view projection);
[[nodiscard]] inline bool hasBias(const ParamMap& attention, std::string_view projection)
{
    return hasBias(attentionBiasOf(attention), projection);
}

/// The features that an RMS norm of queries and keys covers. It is applied before the rotation.
enum class QkNorm {
    None,
    Head,     ///< the features of each head; all heads share the weights
    AllHeads, ///< the features of all heads
};
[[nodiscard]] QkNorm qkNormOf(const ParamMap& attention);
/// Returns the parameter's value for `norm`.
[[nodiscard]] const char* wordOf(QkNorm norm);

/// The scaling of the frequencies of rotary positions for sequences longer than in pre-training.
enum class RopeScaling {
    None,
    Linear, ///< divides all frequencies by the factor
    Llama3, ///< divides frequencies with long wavelengths by the factor; leaves those with short ones unchanged
};

/// The features of a head that rotate, and their frequencies. Features i and i + features/2 rotate by
/// position · frequency_i, where
/// frequency_i = base^(−2i/features), scaled:
///   linear: frequency / factor
///   llama3: frequency · (s + (1 − s)/factor), s = (original/wavelength − low)/(high − low) cut to [0, 1], with
///           wavelength = 2π/frequency (Llama 3.1)
struct RotaryPositions {
    std::int64_t features = 0; ///< the first features of a head, even; 0: no rotation
    double base = 10000;
    RopeScaling scaling = RopeScaling::None;
    double factor = 8;
    double low = 1;
    double high = 4;
    std::int64_t original = 8192; ///< tokens
    auto operator<=>(const RotaryPositions&) const = default;
};
/// Returns the rotary positions of an attention with heads of `headDim` features. Numbers that the scaling does not use
/// have their defaults. Precondition: the number of rotating features is even, which the node's shape rule checks.
[[nodiscard]] RotaryPositions rotaryOf(const ParamMap& attention, std::int64_t headDim);
/// Returns the parameters for these positions and this share of rotating features. Without rotation, only kRopeParam.
[[nodiscard]] ParamMap rotaryParams(const RotaryPositions& positions, double share);
/// Returns the number of rotating features for a share of `headDim`.
[[nodiscard]] std::int64_t rotatingFeatures(double share, std::int64_t headDim);

/// Returns the average number of keys that a query attends to in a sequence of `context` tokens: half of them if
/// causal, and w − w²/2T for a window w.
[[nodiscard]] double keysSeen(const ParamMap& attention, std::int64_t context);

} // namespace residua::projects
