// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/huggingface/decoder.h"

#include <map>
#include <string>
#include <string_view>

namespace residua::projects {

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

} // namespace residua::projects
