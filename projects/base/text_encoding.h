// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::projects {

/// What stands in a text file: `bytes` without a byte order mark of UTF-8. UTF-16 and UTF-32 are errors that name them,
/// placed at "document"; whether each character is well-formed is not looked at.
[[nodiscard]] Result<std::string_view> utf8Text(std::string_view bytes);

/// The length of the well-formed UTF-8 sequence that `text` begins with; 0 for none (RFC 3629, section 4).
[[nodiscard]] std::size_t utf8Length(std::string_view text);
[[nodiscard]] bool isUtf8(std::string_view text);
/// `text` with U+FFFD for each byte that is no part of a well-formed character.
[[nodiscard]] std::string asUtf8(std::string_view text);

} // namespace residua::projects
