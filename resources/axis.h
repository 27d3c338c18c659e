// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace residua::resources {

/// The range of an axis: low < high, both within ±kFarthest, and far enough apart that its pixels are distinct doubles.
struct AxisRange {
    double low = 0;
    double high = 1;
};

/// A place on an axis and what is written there; UTF-8.
struct AxisTick {
    double value = 0;
    std::string label;
};

/// Larger values are drawn at ±kFarthest, so that differences of drawn values, and their products with pixels, stay
/// finite.
inline constexpr double kFarthest = 1e240;
/// Smaller magnitudes are drawn as zero.
inline constexpr double kNearest = 1e-240;

/// The range of a quantity that is a share of a whole.
inline constexpr AxisRange kShares{0, 1};

/// Returns the range from `low` to `high` with `margin` (a share of their distance) on both sides. A single value, or
/// values that differ by less than the 9th digit, are in the middle. The range exceeds `bounds` only if a value does.
/// Returns [0, 1] unless low ≤ high.
[[nodiscard]] AxisRange linearRange(double low, double high, double margin,
                                    const std::optional<AxisRange>& bounds = {});
/// Returns the range of a logarithmic axis; the margin is a share of the decades. The result has low > 0. It shows at
/// most 200 decades below `high`, or 6 if `low` has no logarithm. `bounds` are as in linearRange(). Returns [1, 10] if
/// no value is above 0.
[[nodiscard]] AxisRange logRange(double low, double high, double margin, const std::optional<AxisRange>& bounds = {});

/// Returns round numbers in any `range`: about `count`, at most 2 · count + 1, ascending, with distinct labels. They
/// are at least `least` apart: 1 for counts.
[[nodiscard]] std::vector<AxisTick> linearTicks(AxisRange range, int count, double least = 0);
/// Returns powers of ten; if the range has fewer than three, also 2 and 5 times them, or round numbers. 0 < range.low.
/// At most max(9, 2 · count + 1).
[[nodiscard]] std::vector<AxisTick> logTicks(AxisRange range, int count);

/// Formats a number for people with at least `digits` significant digits unless it is an integer: "0.0123", "10,834",
/// "1.5 M", "3·10⁻⁵", "NaN", "∞".
[[nodiscard]] std::string shortNumber(double value, int digits = 4);

} // namespace residua::resources
