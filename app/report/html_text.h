// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::report {

/// Escapes text for HTML or SVG. Invalid characters, as from a damaged file, are replaced (U+FFFD).
[[nodiscard]] std::string escapeHtml(std::string_view text);

/// Estimates the width of `text` in SVG units in the page's 12-unit font, rather too large than too small.
[[nodiscard]] double textWidth(std::string_view text);
/// Returns `text`, with its middle omitted if it is wider than `width`.
[[nodiscard]] std::string elided(const std::string& text, double width);
/// Returns at most `bytes` bytes of `text`, followed by its size.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t bytes);

} // namespace residua::report
