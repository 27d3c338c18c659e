// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/check/sound_project.h"
#include "projects/huggingface/known_model.h"

#include <map>
#include <string>
#include <string_view>

namespace residua::projects {

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

} // namespace residua::projects
