// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/model/project.h"
#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Language models as the package transformers keeps them: what a folder's config.json says, the network that it is
/// here, and the names of its tensors. One table of architectures serves import and export.
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

/// What a config.json says, and what a person should know of it.
struct ReadDecoder {
    Decoder decoder;
    std::vector<std::string> notes; ///< what it says that is not taken over
};
/// `place` is the file's name in errors. Refused, by the key, where the architecture or an option has no counterpart
/// here.
[[nodiscard]] Result<ReadDecoder> readDecoder(std::string_view config, const std::string& place);
/// A config.json that says the same. `original`, the one that the model came with or empty, gives what this program
/// knows nothing of: the tokens that begin and end a text, and the like. `dtype` is "float32", "bfloat16" and the like.
[[nodiscard]] std::string configOf(const Decoder& decoder, std::string_view original, const std::string& dtype);

/// The network: a stack of one block, or of two where only later layers have a window.
[[nodiscard]] Network networkOf(const Decoder& decoder);
/// A project of it that goes on training from given weights.
[[nodiscard]] Project projectOf(const Decoder& decoder, const std::string& name, const Source& source);

/// The decoder that a network is.
struct FoundDecoder {
    Decoder decoder;
    /// For each node the prefix of its parameters in networkOf(decoder), and the prefix that they have in the project.
    std::map<std::string, std::string> names;

    /// The project's name of a parameter of networkOf(decoder).
    [[nodiscard]] std::string parameter(const std::string& ofDecoder) const;
};
/// Refused with what keeps the project's network from being any. What acts in training alone, dropout say, does not.
/// Several architectures may make one network, a Mistral without a window that of a Llama: `preferred`, the name of
/// one, goes before the others.
[[nodiscard]] Result<FoundDecoder> decoderOf(const SoundProject& project, std::string_view preferred = {});
/// "model_type" of a config.json; empty where it says none.
[[nodiscard]] std::string modelTypeIn(std::string_view config);

/// A tensor of the folder, and the parameters of the network that it holds.
struct FileTensor {
    std::string name;                    ///< with the kind's prefix
    std::vector<std::string> parameters; ///< one, or q, k and v one after another
    bool transposed = false;             ///< a weight is [in, out] in the file
    /// Into so many equal parts all parameters are cut; the file has the first part of each, then the second, … 1: the
    /// parameters as they are.
    std::int64_t groups = 1;
};
/// Every tensor that such a model may have; those whose parameters the network lacks are not in the file either.
[[nodiscard]] std::vector<FileTensor> fileTensorsOf(const Decoder& decoder);
/// Whether a tensor of this name says nothing that the config and the other tensors do not: masks and frequencies that
/// older files hold, and a tied head that is stored a second time.
[[nodiscard]] bool isRedundant(const Decoder& decoder, std::string_view tensor);

} // namespace residua::projects
