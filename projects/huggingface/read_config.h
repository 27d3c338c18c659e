// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/huggingface/known_model.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// The contents of a config.json, with notes for the user.
struct ReadModel {
    KnownModel model;
    std::vector<std::string> notes; ///< settings that are not imported
};
/// Reads a config.json. `place` is the file's name in errors. Returns an error that names the key if the architecture
/// or an option is not supported.
[[nodiscard]] Result<ReadModel> readModel(std::string_view config, const std::string& place);

} // namespace residua::projects
