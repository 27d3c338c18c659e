// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::engine {

/// The position of a part of a text.
struct TextPosition {
    std::size_t offset = 0; ///< bytes before it
    std::size_t line = 1;
};
/// Returns Done if all of the text is valid; else an error that names `place`, the line, the offset and the byte.
[[nodiscard]] Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin = {});
/// Checks the beginning of a file. UTF-16, UTF-32 and too many zero bytes for a text are errors, which name the
/// encoding and how to convert it.
[[nodiscard]] Status checkEncoding(std::string_view head, const std::string& place);

} // namespace residua::engine
