// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/known_model.h"
#include "projects/model/objective.h"
#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The task of a model. It decides the head and the data.
enum class ModelTask {
    NextToken,
    MaskedToken,
    TextClass,    ///< classes of texts or pairs of texts
    PictureClass, ///< classes of pictures
};
[[nodiscard]] Objective objectiveOf(ModelTask task);

/// The naming of keys in config.json and of tensors.
enum class ModelFamily { Llama, NeoX, Gpt2, Bert, Albert, Vit };

/// The place of a layer's norms.
enum class NormPlace {
    Inputs,  ///< of attention and FFN
    Outputs, ///< of attention and FFN, before the sums
    Sums,    ///< of residual and branch, which are the topology's
    OwnSums, ///< the same in the block, which computes the residual too
    Both,    ///< of the inputs and of the outputs of attention and FFN
};

/// The layers of an architecture that may have a window.
enum class WindowedLayers {
    None,
    All,
    Later, ///< all from the layer on that the config sets in "max_window_layers"
};

/// The layers that a loop visits several times.
enum class LoopedLayers {
    None,
    Single, ///< the one stored layer, whose visits config.json counts as layers
    All,    ///< all, "total_ut_steps" times, with the norm of the head and an exit gate after each visit
};

/// The fixed properties of an architecture, and the options that a config.json may set.
struct ModelKind {
    std::string_view name;
    std::string_view modelType; ///< "model_type" in config.json
    std::string_view className; ///< in "architectures"
    /// A class in "architectures" with the same network and further heads, which are not read; may be empty.
    std::string_view widerClass;
    std::string_view prefix; ///< of all tensors except the head's; files with only the body lack it
    ModelFamily family = ModelFamily::Llama;
    ModelTask task = ModelTask::NextToken;
    bool layerNorm = false; ///< layer norms with bias, else RMS norms
    NormPlace norms = NormPlace::Inputs;
    bool gated = true; ///< SwiGLU, else up, activation, down
    QkNorm qkNorm = QkNorm::None;
    LoopedLayers looped = LoopedLayers::None;
    /// The repository whose code transformers fetches to load such a model; empty if transformers has the architecture.
    std::string_view codeHome;

    // Options that a config.json may set. If it cannot set one, the value here applies.
    bool choosesAttentionBias = false; ///< "attention_bias": all or none
    AttentionBias attentionBias = AttentionBias::None;
    bool choosesFfnBias = false; ///< "mlp_bias"
    bool ffnBias = false;
    bool choosesParallel = false; ///< "use_parallel_residual"
    bool choosesHeads = true;     ///< "num_key_value_heads" and "head_dim"
    bool choosesRotaryShare = false;
    WindowedLayers windowed = WindowedLayers::None;

    // The defaults of transformers for missing keys.
    std::string_view activation; ///< in its word
    double epsilon = 1e-6;
    bool tied = false;
    std::int64_t positions = 2048;
    std::int64_t kvHeads = 0; ///< 0: same as heads
    std::int64_t headDim = 0; ///< 0: width / heads
    double rotaryShare = 1;
    std::int64_t window = 4096;   ///< if there is one
    std::int64_t fullLayers = 28; ///< WindowedLayers::Later: number of layers before the first window

    [[nodiscard]] bool normsInputs() const { return norms == NormPlace::Inputs || norms == NormPlace::Both; }
    [[nodiscard]] bool normsOutputs() const { return norms == NormPlace::Outputs || norms == NormPlace::Both; }
    [[nodiscard]] bool readsPictures() const { return task == ModelTask::PictureClass; }
    [[nodiscard]] bool classifies() const { return readsPictures() || task == ModelTask::TextClass; }
    /// True if its stem has segments and a norm.
    [[nodiscard]] bool hasBertStem() const { return family == ModelFamily::Bert || family == ModelFamily::Albert; }
    /// True if it has rotary positions, else those of its stem are learned.
    [[nodiscard]] bool rotates() const { return family == ModelFamily::Llama || family == ModelFamily::NeoX; }
    /// Returns the kind of its norm nodes.
    [[nodiscard]] const char* norm() const { return layerNorm ? "layer_norm" : "rms_norm"; }
};
/// gpt2, llama, mistral, qwen2, qwen3, gpt_neox, olmo2, ouro; bert and bert_classifier, which share a model type, and
/// so do albert and albert_classifier; vit.
[[nodiscard]] std::span<const ModelKind> modelKinds();
/// Returns null for any other name.
[[nodiscard]] const ModelKind* findModelKind(std::string_view name);
/// Returns the class of transformers that loads an exported model of this kind; that of a language model with custom
/// code for any other name.
[[nodiscard]] std::string autoClassOf(std::string_view kind);
/// Returns the arguments after the folder in the call that loads such a model: empty, or ", trust_remote_code=True".
[[nodiscard]] std::string loadingOptionsOf(std::string_view kind);

/// A tensor of the folder, and the parameters of the network in it.
struct FileTensor {
    std::string name;                    ///< with the kind's prefix
    std::vector<std::string> parameters; ///< a single one, or q, k and v one after another
    bool transposed = false;             ///< true if a weight is [in, out] in the file
    /// Each parameter is split into this number of equal parts, and the file contains the first part of each, then the
    /// second part of each, and so on. 1: the parameters are not split.
    std::int64_t groups = 1;
    std::string otherName = {}; ///< alternative name of the tensor; may be empty
    bool otherWins = false;     ///< true if transformers computes with the other one where a file has both
    bool leadingOne = false;    ///< true if the file's shape has a 1 before the parameter's
};
/// Returns every tensor that such a model may have. Tensors whose parameters the network lacks are absent from the
/// file.
[[nodiscard]] std::vector<FileTensor> fileTensorsOf(const KnownModel& model);
/// Returns the name of the weight of the head of a language model, which a tied model does not need.
[[nodiscard]] std::string headTensorOf(const KnownModel& model);
/// True if a tensor of this name adds nothing to the config and the other tensors: masks and frequencies in older
/// files, a second copy of a tied head, and heads of other tasks of the pre-training.
[[nodiscard]] bool isRedundant(const KnownModel& model, std::string_view tensor);
/// True if the tensor belongs to a head of another task of the pre-training.
[[nodiscard]] bool isOfOtherTask(const KnownModel& model, std::string_view tensor);

} // namespace residua::projects
