// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::report {

/// Text as HTML or SVG shows it. What is no character of either, of a damaged file, is replaced (U+FFFD).
[[nodiscard]] std::string escapeHtml(std::string_view text);

/// About how many units of an SVG `text` takes in the page's 12-unit font, rather more than less.
[[nodiscard]] double textWidth(std::string_view text);
/// `text` with its middle left out where it is wider than that.
[[nodiscard]] std::string elided(const std::string& text, double width);
/// `text` up to so many bytes, and how many there were.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t bytes);

} // namespace residua::report
