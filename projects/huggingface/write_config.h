// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/huggingface/decoder.h"

#include <string>
#include <string_view>

namespace residua::projects {

/// A config.json that says the same. `original`, the one that the model came with or empty, gives what this program
/// knows nothing of: the tokens that begin and end a text, and the like. `dtype` is "float32", "bfloat16" and the like.
[[nodiscard]] std::string configOf(const Decoder& decoder, std::string_view original, const std::string& dtype);
/// "model_type" of a config.json; empty where it says none.
[[nodiscard]] std::string modelTypeIn(std::string_view config);

} // namespace residua::projects
