// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <string>

/// Language models as the package transformers keeps them: what a folder's config.json says, the network that it is
/// here, and the names of its tensors. One table of architectures, decoder_kinds.h, serves import and export.
namespace residua::projects {

/// One model: its architecture and its numbers. Sizes are features, lengths tokens.
struct Decoder {
    std::string kind; ///< DecoderKind::name
    std::int64_t layers = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t hidden = 0; ///< of the FFN
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;      ///< the longest sequence
    std::string activation = "silu"; ///< an activation node's function
    double epsilon = 1e-6;
    bool tied = false;
    AttentionBias attentionBias = AttentionBias::None;
    bool ffnBias = false;
    bool parallel = false;       ///< attention and FFN both read the layer's input
    double rotaryShare = 1;      ///< of a head's features
    RotaryPositions rotary;      ///< the share in features; with learned positions none rotates
    std::int64_t window = 0;     ///< tokens that one sees; 0: all
    std::int64_t fullLayers = 0; ///< so many first layers have no window

    bool operator==(const Decoder&) const = default;
};

} // namespace residua::projects
