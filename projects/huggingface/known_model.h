// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/validate.h"
#include "projects/model/project.h"
#include "projects/nodes/attention_options.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// Models in the format of the package transformers: the config.json of a folder, the corresponding network of this
/// program, and the names of the tensors. Import and export use the same table of architectures, model_kinds.h.

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
    std::string kind;        ///< ModelKind::name
    std::int64_t layers = 0; ///< stored ones
    std::int64_t visits = 1; ///< to each of them, by a loop over all
    std::int64_t width = 0;
    std::int64_t embedding = 0; ///< features of the embedding's tables if a linear map follows them, else 0
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

    [[nodiscard]] std::int64_t depth() const { return layers * visits; } ///< the number of executed layers
    bool operator==(const KnownModel&) const = default;
};

/// Returns the length of the sequences that projectOf() trains on.
[[nodiscard]] std::int64_t trainedLength(const KnownModel& model);
/// Returns a project that continues training from given weights. Its network is a stack of one block, or of two if only
/// later layers have a window. It reads the padding mask and the segments if the examples of the source have them.
[[nodiscard]] Project projectOf(const KnownModel& model, const std::string& name, const Source& source);

/// The model that a network corresponds to.
struct FoundModel {
    KnownModel model;
    /// Maps the prefix of each node's parameters in the network of projectOf(model) to their prefix in the project.
    std::map<std::string, std::string> names;

    /// Returns the project's name of a parameter of projectOf(model)'s network.
    [[nodiscard]] std::string parameter(const std::string& ofModel) const;
};
/// Finds the model of the project's network. The error gives the reason why no architecture matches. Parts that act
/// only in training, such as dropout, are ignored. Several architectures may describe one network: a Mistral without a
/// window is also a Llama. `preferred`, a model type, has priority.
[[nodiscard]] Result<FoundModel> knownModelOf(const SoundProject& project, std::string_view preferred = {});

/// The contents of a config.json, with notes for the user.
struct ReadModel {
    KnownModel model;
    std::vector<std::string> classes; ///< names by number, of a classifier
    std::vector<std::string> notes;   ///< settings that are not imported
};
/// Reads a config.json. `place` is the file's name in errors. Returns an error that names the key if the architecture
/// or an option is not supported.
[[nodiscard]] Result<ReadModel> readModel(std::string_view config, const std::string& place);
/// Returns the names of the classes by number in the config.json of any model; empty if it has none of its own.
[[nodiscard]] Result<std::vector<std::string>> classNamesIn(std::string_view config, const std::string& place);

/// Returns a config.json for the model. `original` is the file that the model came with, or empty. It provides the
/// keys that this program does not use, such as the tokens that begin and end a text. `dtype` is "float32", "bfloat16"
/// etc. `classes` are the names of a classifier's classes by number; classes without a name have that of `original`, or
/// the default of transformers.
[[nodiscard]] std::string configOf(const KnownModel& model, std::string_view original, const std::string& dtype,
                                   const std::vector<std::string>& classes = {});
/// Returns the names that transformers gives to classes without names: LABEL_0, LABEL_1, …
[[nodiscard]] std::vector<std::string> defaultClasses(std::int64_t count);
/// Returns the "model_type" of a config.json; empty if it has none.
[[nodiscard]] std::string modelTypeIn(std::string_view config);

} // namespace residua::projects
