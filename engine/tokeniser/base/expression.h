// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <string>
#include <string_view>

namespace residua::engine {

/// A regular expression of Oniguruma's Ruby syntax in PCRE2's: white space and word characters as Unicode has them,
/// scripts by what characters belong to and not by where they are used. What PCRE2 cannot say is refused by name.
[[nodiscard]] Result<std::string> translatedExpression(std::string_view expression, const std::string& place);

} // namespace residua::engine
