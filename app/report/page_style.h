// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>

namespace residua::report {

/// Colours of curves that a page knows, as the classes c0, c1, …; further curves start again, dashed.
inline constexpr std::size_t kPageColours = 8;

/// All of a page up to and with <body>: its title, and the style that all pages share, light and dark.
[[nodiscard]] std::string pageHead(const std::string& title);

} // namespace residua::report
