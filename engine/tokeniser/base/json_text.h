// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace residua::engine {

/// A JSON object of a file of somebody else's. An error where it is none, where it is nested very deeply, or where an
/// object names a key twice, of which other readers would silently take one.
[[nodiscard]] Result<nlohmann::json> parsedJson(std::string_view bytes, const std::string& place);

} // namespace residua::engine
