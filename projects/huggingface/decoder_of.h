// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/huggingface/decoder.h"

#include <map>
#include <string>
#include <string_view>

namespace residua::projects {

/// The decoder that a network corresponds to.
struct FoundDecoder {
    Decoder decoder;
    /// Maps the prefix of each node's parameters in networkOf(decoder) to their prefix in the project.
    std::map<std::string, std::string> names;

    /// Returns the project's name of a parameter of networkOf(decoder).
    [[nodiscard]] std::string parameter(const std::string& ofDecoder) const;
};
/// Finds the decoder of the project's network. The error gives the reason why no architecture matches. Parts that act
/// only in training, such as dropout, are ignored. Several architectures may describe one network: a Mistral without a
/// window is also a Llama. `preferred`, the name of one, has priority.
[[nodiscard]] Result<FoundDecoder> decoderOf(const SoundProject& project, std::string_view preferred = {});

} // namespace residua::projects
