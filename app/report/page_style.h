// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace residua::report {

/// The number of curve colours of a page, as the classes c0, c1, …; further curves repeat them, dashed.
inline constexpr std::size_t kPageColours = 8;

/// Returns the beginning of a page up to <body>: its title, and the style that all pages share, light and dark.
[[nodiscard]] std::string pageHead(const std::string& title);

/// The style of plots in a file of their own, in the light theme's colours.
[[nodiscard]] std::string svgStyle();

/// What a page leaves out, and why, as a box; empty where it leaves out nothing.
[[nodiscard]] std::string faultList(const std::vector<std::string>& faults);

} // namespace residua::report
