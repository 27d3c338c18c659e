// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::engine {

/// Where a part of a text begins.
struct TextPosition {
    std::size_t offset = 0; ///< bytes before it
    std::size_t line = 1;
};
/// An error that names `place`, the line, the offset and the byte; Done where all is valid.
[[nodiscard]] Status checkUtf8(std::string_view text, const std::string& place, TextPosition begin = {});
/// Looks at the beginning of a file: UTF-16 and UTF-32, and what has so many zero bytes that it is no text, are errors
/// that name the encoding and how to convert it.
[[nodiscard]] Status checkEncoding(std::string_view head, const std::string& place);

} // namespace residua::engine
