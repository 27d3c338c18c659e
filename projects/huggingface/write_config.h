// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/known_model.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// Returns a config.json for the model. `original` is the file that the model came with, or empty. It provides the
/// keys that this program does not use, such as the tokens that begin and end a text. `dtype` is "float32", "bfloat16"
/// etc.
[[nodiscard]] std::string configOf(const KnownModel& model, std::string_view original, const std::string& dtype);
/// Returns the "model_type" of a config.json; empty if it has none.
[[nodiscard]] std::string modelTypeIn(std::string_view config);

} // namespace residua::projects
