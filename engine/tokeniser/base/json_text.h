// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace residua::engine {

/// Parses an untrusted JSON object. Returns an error if it is not an object, is nested too deeply, or repeats a key in
/// an object; other readers would silently take one of the values.
[[nodiscard]] Result<nlohmann::json> parsedJson(std::string_view bytes, const std::string& place);

} // namespace residua::engine
