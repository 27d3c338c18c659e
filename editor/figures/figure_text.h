// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "editor/figures/figure.h"

#include <string>

// The writers of figures as text. Private to the module.
namespace residua::editor {

/// Formats a number with at most three decimals.
[[nodiscard]] std::string figureNumber(double number);
[[nodiscard]] std::string svgOf(const Figure& figure);
[[nodiscard]] std::string tikzOf(const Figure& figure);
/// Returns a document of the size of the figure.
[[nodiscard]] std::string texOf(const Figure& figure);

} // namespace residua::editor
