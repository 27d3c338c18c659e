// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <string>

/// Models in the format of the package transformers: the config.json of a folder, the corresponding network of this
/// program, and the names of the tensors. Import and export use the same table of architectures, model_kinds.h.
namespace residua::projects {

/// The pictures of a vision transformer.
struct PictureSizes {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;
    std::int64_t patch = 0; ///< side of a patch

    /// Returns the positions of the patches and the class token.
    [[nodiscard]] std::int64_t positions() const { return height / patch * (width / patch) + 1; }
    bool operator==(const PictureSizes&) const = default;
};
/// One model: its architecture and its numbers. Sizes are in features, lengths in tokens, sides in pixels.
struct KnownModel {
    std::string kind; ///< ModelKind::name
    std::int64_t layers = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t hidden = 0;         ///< of the FFN
    std::int64_t vocabulary = 0;     ///< 0 if it reads pictures
    std::int64_t positions = 0;      ///< the longest sequence; of pictures the patches and the class token
    std::int64_t segments = 0;       ///< rows of the segment embedding
    std::int64_t classes = 0;        ///< 0 unless it is a classifier
    PictureSizes picture;            ///< of a model that reads pictures
    std::string activation = "silu"; ///< function of an activation node
    double epsilon = 1e-6;
    bool tied = false;
    AttentionBias attentionBias = AttentionBias::None;
    bool ffnBias = false;
    bool parallel = false;       ///< true if attention and FFN both read the layer's input
    double rotaryShare = 1;      ///< rotating share of a head's features
    RotaryPositions rotary;      ///< features is 0 with learned positions
    std::int64_t window = 0;     ///< tokens that a token attends to; 0: all
    std::int64_t fullLayers = 0; ///< number of first layers without a window

    bool operator==(const KnownModel&) const = default;
};

} // namespace residua::projects
