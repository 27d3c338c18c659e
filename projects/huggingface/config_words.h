// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/decoder_kinds.h"

#include <optional>
#include <string>
#include <string_view>

/// The words of a config.json, which differ from architecture to architecture. Private to this folder.
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
inline constexpr const char* kNewerRopeBase = "rope_theta"; ///< in rope_parameters, of all architectures
inline constexpr const char* kNewerRotaryShare = "partial_rotary_factor";
[[nodiscard]] const ConfigWords& wordsOf(const DecoderKind& kind);

/// An activation node's function for transformers' word; empty for an unknown one.
[[nodiscard]] std::string_view functionOfConfigWord(std::string_view word);
/// The word for an activation node's function; empty where there is none.
[[nodiscard]] std::string_view configWordOf(std::string_view function);
/// All words for activations, for a message.
[[nodiscard]] std::string activationWords();

/// The word for a scaling of rotary positions: "default", "linear" or "llama3".
[[nodiscard]] std::string_view configWordOf(RopeScaling scaling);
[[nodiscard]] std::optional<RopeScaling> scalingOfConfigWord(std::string_view word);

/// Whether a key means nothing to the network: who made the file, which token begins a text, and the like.
[[nodiscard]] bool isIrrelevant(std::string_view key);

} // namespace residua::projects
