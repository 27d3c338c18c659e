// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The usual sizes of a figure on paper, and their limits.
namespace residua::resources::page {

inline constexpr double kWidth = 8.5;   ///< centimetres, of a column of two
inline constexpr double kNarrowest = 2; ///< centimetres
inline constexpr double kWidest = 100;
inline constexpr double kText = 8;         ///< points
inline constexpr double kSmallestText = 3; ///< points
inline constexpr double kLargestText = 40;

} // namespace residua::resources::page
