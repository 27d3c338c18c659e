// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/decoder.h"
#include "projects/pytorch/pytorch_code.h"

#include <string>

/// A network that no architecture of transformers is, as a model with code of its own: the exported PyTorch code
/// (model.py, whose class Network it wraps), to be loaded by
/// AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True).
namespace residua::projects {

/// "model_type" of its config.json.
inline constexpr const char* kOwnArchitecture = "residua";
inline constexpr const char* kConfigurationFile = "configuration_residua.py";
inline constexpr const char* kModelingFile = "modeling_residua.py";

/// The Python code of the model's configuration and model classes, the same for every network.
[[nodiscard]] std::string configurationCode();
[[nodiscard]] std::string modelingCode();
/// pyTorchConfig() with what transformers looks for; `dtype` as configOf() has it.
[[nodiscard]] std::string customConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run,
                                       const std::string& dtype);

/// What reads the tokeniser that comes with a model.
enum class ExportedTokeniser {
    None,          ///< the folder has none
    Auto,          ///< AutoTokenizer of transformers
    SentencePiece, ///< the package sentencepiece: tokenizer.model alone says nothing of a class of transformers
};

/// What stands in the README before pyTorchReadme().
[[nodiscard]] std::string customReadme(const SoundProject& project, const std::string& reason,
                                       ExportedTokeniser tokeniser);

/// README.md of a folder that needs no code of its own.
[[nodiscard]] std::string modelReadme(const SoundProject& project, const Decoder& decoder, const ExportedRun& run,
                                      const std::string& dtype, ExportedTokeniser tokeniser);

} // namespace residua::projects
