// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <string>
#include <string_view>

namespace residua::engine {

/// Translates a regular expression from Oniguruma's Ruby syntax to PCRE2's. White space and word characters follow
/// Unicode; scripts are matched by a character's own script, not its script extensions. Returns an error that names any
/// feature that PCRE2 cannot express.
[[nodiscard]] Result<std::string> translatedExpression(std::string_view expression, const std::string& place);

} // namespace residua::engine
