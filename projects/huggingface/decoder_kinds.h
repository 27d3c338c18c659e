// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/decoder.h"
#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Which layers of an architecture may have a window.
enum class WindowedLayers {
    None,
    All,
    Later, ///< all from a layer of the config's choice on, "max_window_layers"
};

/// What all models of an architecture have in common, and what a config.json may choose.
struct DecoderKind {
    std::string_view name;         ///< "model_type" in config.json
    std::string_view className;    ///< in "architectures"
    std::string_view prefix;       ///< of all tensors but the head's; files of the body alone lack it
    bool layerNorm = false;        ///< with bias; else RMS norms
    bool normsAfter = false;       ///< norms of what attention and FFN make, not of what they read
    bool gated = true;             ///< SwiGLU; else up, activation, down
    bool learnedPositions = false; ///< in the stem; else rotary ones
    QkNorm qkNorm = QkNorm::None;

    // What a config.json may choose; what it does not choose is as said.
    bool choosesAttentionBias = false; ///< "attention_bias": all or none
    AttentionBias attentionBias = AttentionBias::None;
    bool choosesFfnBias = false; ///< "mlp_bias"
    bool ffnBias = false;
    bool choosesParallel = false; ///< "use_parallel_residual"
    bool choosesHeads = true;     ///< "num_key_value_heads" and "head_dim"
    bool choosesRotaryShare = false;
    WindowedLayers windowed = WindowedLayers::None;

    // What transformers takes where the key is missing.
    std::string_view activation; ///< in its word
    double epsilon = 1e-6;
    bool tied = false;
    std::int64_t positions = 2048;
    std::int64_t kvHeads = 0; ///< 0: as many as heads
    std::int64_t headDim = 0; ///< 0: the width over the heads
    double rotaryShare = 1;
    std::int64_t window = 4096;   ///< where there is one
    std::int64_t fullLayers = 28; ///< WindowedLayers::Later: those before the first window

    /// The key of its norms' node kind.
    [[nodiscard]] const char* norm() const { return layerNorm ? "layer_norm" : "rms_norm"; }
};
/// gpt2, llama, mistral, qwen2, qwen3, gpt_neox, olmo2.
[[nodiscard]] std::span<const DecoderKind> decoderKinds();
/// nullptr for another.
[[nodiscard]] const DecoderKind* findDecoderKind(std::string_view name);

/// A tensor of the folder, and the parameters of the network that it holds.
struct FileTensor {
    std::string name;                    ///< with the kind's prefix
    std::vector<std::string> parameters; ///< one, or q, k and v one after another
    bool transposed = false;             ///< a weight is [in, out] in the file
    /// Into so many equal parts all parameters are cut; the file has the first part of each, then the second, … 1: the
    /// parameters as they are.
    std::int64_t groups = 1;
    std::string otherName = {}; ///< that the tensor may have instead, or empty
};
/// Every tensor that such a model may have; those whose parameters the network lacks are not in the file either.
[[nodiscard]] std::vector<FileTensor> fileTensorsOf(const Decoder& decoder);
/// Returns the name of the head's weight, which a tied model does not need.
[[nodiscard]] std::string headTensorOf(const Decoder& decoder);
/// Whether a tensor of this name says nothing that the config and the other tensors do not: masks and frequencies that
/// older files hold, and a tied head that is stored a second time.
[[nodiscard]] bool isRedundant(const Decoder& decoder, std::string_view tensor);

} // namespace residua::projects
