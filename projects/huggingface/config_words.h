// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/model_kinds.h"

#include <optional>
#include <string>
#include <string_view>

/// The keys and words of a config.json, which differ between architectures. Private to this folder.
namespace residua::projects {

struct ConfigWords {
    std::string_view layers = "num_hidden_layers";
    std::string_view width = "hidden_size";
    std::string_view heads = "num_attention_heads";
    std::string_view hidden = "intermediate_size";
    std::string_view positions = "max_position_embeddings";
    std::string_view epsilon = "rms_norm_eps";
    std::string_view activation = "hidden_act";
    std::string_view ropeBase = "rope_theta";
    std::string_view rotaryShare = "partial_rotary_factor";
};
inline constexpr const char* kNewerRopeBase = "rope_theta"; ///< in rope_parameters, for all architectures
inline constexpr const char* kNewerRotaryShare = "partial_rotary_factor";
inline constexpr const char* kConfigVisits = "total_ut_steps"; ///< LoopedLayers::All
[[nodiscard]] const ConfigWords& wordsOf(const ModelKind& kind);

/// Returns an activation node's function for transformers' word; empty for an unknown word.
[[nodiscard]] std::string_view functionOfConfigWord(std::string_view word);
/// Returns the word for an activation node's function; empty if transformers has none.
[[nodiscard]] std::string_view configWordOf(std::string_view function);
/// Returns all words for activations, for a message.
[[nodiscard]] std::string activationWords();

/// Returns the word for a scaling of rotary positions: "default", "linear" or "llama3".
[[nodiscard]] std::string_view configWordOf(RopeScaling scaling);
[[nodiscard]] std::optional<RopeScaling> scalingOfConfigWord(std::string_view word);

/// True if a key does not affect the network, such as the author of the file or the token that begins a text.
[[nodiscard]] bool isIrrelevant(std::string_view key);

} // namespace residua::projects
