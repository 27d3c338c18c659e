// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace residua::resources {

/// What an axis shows: low < high, both within ±kFarthest, and so far apart that arithmetic tells its pixels apart.
struct AxisRange {
    double low = 0;
    double high = 1;
};

/// A place on an axis and what is written there; UTF-8.
struct AxisTick {
    double value = 0;
    std::string label;
};

/// What is larger is drawn at ±kFarthest: differences of what is drawn, and their products with pixels, stay finite.
inline constexpr double kFarthest = 1e240;
/// Below it all numbers are drawn as zero.
inline constexpr double kNearest = 1e-240;

/// The axis of values from `low` to `high`, with `margin` (a share of their distance) on both sides. Of one value, or
/// of values that differ by less than the 9th digit, it stands in the middle. [0, 1] where low ≤ high does not hold.
[[nodiscard]] AxisRange linearRange(double low, double high, double margin);
/// The same for a logarithmic axis; the margin is a share of the decades. low > 0 in what is returned; at most 200
/// decades below `high` show, 6 where `low` has no logarithm. [1, 10] where nothing is above 0.
[[nodiscard]] AxisRange logRange(double low, double high, double margin);

/// Round numbers in `range`, whatever it is: about `count`, at most 2 · count + 1, ascending, with distinct labels.
/// They lie `least` apart or more: 1 for what is counted.
[[nodiscard]] std::vector<AxisTick> linearTicks(AxisRange range, int count, double least = 0);
/// Powers of ten; where a range holds less than three, also 2 and 5 times them, or round numbers. 0 < range.low. At
/// most max(9, 2 · count + 1).
[[nodiscard]] std::vector<AxisTick> logTicks(AxisRange range, int count);

/// A number as a person reads it, with so many significant digits at least in what is whole: "0.0123", "10,834", "1.5
/// M", "3·10⁻⁵", "NaN", "∞".
[[nodiscard]] std::string shortNumber(double value, int digits = 4);

} // namespace residua::resources
