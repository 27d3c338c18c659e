// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/huggingface/decoder.h"

#include <string>
#include <string_view>
#include <vector>

namespace residua::projects {

/// What a config.json says, and what a person should know of it.
struct ReadDecoder {
    Decoder decoder;
    std::vector<std::string> notes; ///< what it says that is not taken over
};
/// `place` is the file's name in errors. Refused, by the key, where the architecture or an option has no counterpart
/// here.
[[nodiscard]] Result<ReadDecoder> readDecoder(std::string_view config, const std::string& place);

} // namespace residua::projects
