// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/known_model.h"
#include "projects/pytorch/pytorch_code.h"

#include <string>

/// A network that matches no architecture of transformers, exported as a model with custom code. The code wraps the
/// class Network of the exported model.py and is loaded by AutoModelForCausalLM.from_pretrained(folder,
/// trust_remote_code=True).
namespace residua::projects {

/// The "model_type" in its config.json.
inline constexpr const char* kOwnArchitecture = "residua";
inline constexpr const char* kConfigurationFile = "configuration_residua.py";
inline constexpr const char* kModelingFile = "modeling_residua.py";

/// Returns the Python code of the model's configuration class. It contains the code's digest, because transformers uses
/// one model class for all configuration classes of equal text.
[[nodiscard]] std::string configurationCode(const PyTorchCode& code);
/// Returns the Python code of the model class, which is the same for every network.
[[nodiscard]] std::string modelingCode();
/// Returns pyTorchConfig() with the keys that transformers needs; `dtype` as for configOf().
[[nodiscard]] std::string customConfig(const SoundProject& project, const PyTorchCode& code, const ExportedRun& run,
                                       const std::string& dtype);

/// The reader of the tokeniser in the folder.
enum class ExportedTokeniser {
    None,          ///< the folder has no tokeniser
    Auto,          ///< AutoTokenizer of transformers
    SentencePiece, ///< the package sentencepiece: tokenizer.model alone does not name a class of transformers
};

/// Returns the part of the README before pyTorchReadme().
[[nodiscard]] std::string customReadme(const SoundProject& project, const std::string& reason,
                                       ExportedTokeniser tokeniser);

/// Returns the README.md of a folder that needs no custom code.
[[nodiscard]] std::string modelReadme(const SoundProject& project, const KnownModel& model, const ExportedRun& run,
                                      const std::string& dtype, ExportedTokeniser tokeniser);

} // namespace residua::projects
