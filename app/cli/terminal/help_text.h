// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace residua::cli {

/// A help page's Markdown as text for a terminal of `width` columns: headings plain, text wrapped and indented by two,
/// code as it is, tables in columns whose last one wraps, links and emphasis as their words.
[[nodiscard]] std::string terminalText(std::string_view markdown, std::size_t width);

} // namespace residua::cli
