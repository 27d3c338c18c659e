// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/api/values.h"

#include <cstdint>

namespace residua::engine {

/// The name of the recorded Matrix of how large the layers' values were in the training step: a column per layer (per
/// half where the topology splits layers), a row per LayerMagnitude; the root mean square over features and examples.
/// NaN: the layer was left out.
inline constexpr const char* kLayerMagnitudes = "norms";

enum class LayerMagnitude : std::int64_t {
    Stream, ///< what the layer reads: the residual stream, or the mix that stands for it
    Branch, ///< what it computes from that
};
inline constexpr std::int64_t kLayerMagnitudeKinds = 2;

/// The name of the recorded Matrix of one row with the effective rank of what each layer (or half, as above) reads:
/// (Σσ²)²/Σσ⁴ of the singular values σ of its inputs, a row of features for each example or token. From 1 to the
/// smaller of both counts. NaN: the layer was left out, or all that it reads is 0.
inline constexpr const char* kReadRanks = "ranks";
/// The name of the recorded Matrix of one row with the norm of the loss's gradient by the parameters of each layer,
/// before clipping. NaN: the layer was left out, or has no parameters.
inline constexpr const char* kLayerGradients = "norms of gradients";

} // namespace residua::engine
