// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::cli {

/// Formats a help page's Markdown for a terminal of `width` columns: plain headings, text wrapped and indented by two,
/// unchanged code, tables in columns whose last one wraps, and the words of links and emphasis.
[[nodiscard]] std::string terminalText(std::string_view markdown, std::size_t width);

} // namespace residua::cli
