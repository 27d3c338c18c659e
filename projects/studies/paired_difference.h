// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::projects {

/// The mean of a − b over pairs, which share a seed, and its interval of confidence by Student's t. Without two pairs
/// the interval is unbounded.
struct PairedDifference {
    std::size_t pairs = 0; ///< 0 for a difference of means
    double mean = 0;       ///< NaN without a pair
    double halfWidth = 0;  ///< of the interval: infinity if it is unbounded
    /// Standard deviation of the difference of one pair; NaN if it is unknown. For a difference of means, the
    /// deviation, or an upper bound of it, if the sides are independent.
    double deviation = std::numeric_limits<double>::quiet_NaN();

    [[nodiscard]] double low() const { return mean - halfWidth; }
    [[nodiscard]] double high() const { return mean + halfWidth; }
};

inline constexpr double kConfidence = 0.95;

/// Returns the mean of a[i] − b[i] with its interval. Skips pairs with a value that is not finite. `a` and `b` have the
/// same length. Pure; any thread.
[[nodiscard]] PairedDifference pairedDifference(std::span<const double> a, std::span<const double> b,
                                                double confidence = kConfidence);

/// A value of one run, known by its seed.
struct SeededValue {
    std::string seed;
    double value = 0;
    std::string run = {}; ///< its directory; empty for a recorded value
};
/// Returns the difference a − b over the seeds that both have. A seed is one pair: the first value with it in `a`, and
/// the first in `b`.
[[nodiscard]] PairedDifference pairedBySeed(std::span<const SeededValue> a, std::span<const SeededValue> b,
                                            double confidence = kConfidence);

/// Returns the factor from the deviation of one of `count` values to the half width of their mean's interval; infinity
/// below two values.
[[nodiscard]] double intervalFactor(std::size_t count, double confidence = kConfidence);

inline constexpr std::size_t kMostPairs = 1'000;
/// Returns the fewest pairs whose interval would leave 0 out if the mean and the deviation of a pair stayed as they
/// are, or kMostPairs + 1 if kMostPairs would not suffice. nullopt if the mean or the deviation is unknown.
[[nodiscard]] std::optional<std::size_t> pairsToDecide(const PairedDifference& difference,
                                                       double confidence = kConfidence);

/// The mean of several values without the values themselves.
struct MeanOfSeveral {
    double mean = 0;
    double deviation = 0; ///< standard deviation of a single value, or an upper bound of it
    std::size_t count = 0;
    enum class Deviation { Known, AtMost } is = Deviation::Known;
};
/// Returns the mean and deviation of the finite values. The mean is NaN without one, the deviation below two.
[[nodiscard]] MeanOfSeveral meanOf(std::span<const double> values);
[[nodiscard]] MeanOfSeveral meanOf(std::span<const SeededValue> values);
/// Returns the difference of two means with Welch's interval, which does not know pairs and is wider if pairs agree. If
/// a deviation is an upper bound, the degrees of freedom are the fewest possible. Unbounded below two values.
[[nodiscard]] PairedDifference differenceOfMeans(const MeanOfSeveral& a, const MeanOfSeveral& b,
                                                 double confidence = kConfidence);

/// Returns pairedBySeed(a, b), or without a common seed the difference of their means.
[[nodiscard]] PairedDifference differenceOf(std::span<const SeededValue> a, std::span<const SeededValue> b);

/// The values of several runs at each step.
using SeededSeries = std::map<std::int64_t, std::vector<SeededValue>>;
/// Returns differenceOf() the values of `a` and `b` at each step that both have.
[[nodiscard]] std::map<std::int64_t, PairedDifference> differencesByStep(const SeededSeries& a, const SeededSeries& b);

/// Formats a mean with its deviation and the number of values: "3.486 ± 0.017 (3)"; "3.4861" for a single one, "–" for
/// none.
[[nodiscard]] std::string textOf(const MeanOfSeveral& mean);
/// Formats a difference with the half width of its interval and the number of pairs: "-0.016 ± 0.004 (3 pairs)",
/// "+0.02 (1 pair)", "-0.1 ± 0.2 (means)"; "–" if it is unknown.
[[nodiscard]] std::string textOf(const PairedDifference& difference);

/// Returns t with P(T ≤ t) = `probability` for Student's distribution, to 1e-9 of its value. `probability` is in
/// (0, 1) and `degrees` > 0.
[[nodiscard]] double studentQuantile(double probability, double degrees);

/// Returns Spearman's rank correlation of two lists of one length, with mean ranks for equal values; NaN for fewer than
/// three values, a NaN among them, or a list without differences.
[[nodiscard]] double rankCorrelation(std::span<const double> a, std::span<const double> b);

/// The sign of a difference a − b that a paper states.
enum class Direction { Below, Above };
/// Says whether measured pairs support a stated direction.
enum class Verdict {
    CannotTell, ///< the interval has 0 in it
    Agrees,     ///< the whole interval has the stated sign
    Differs,    ///< the whole interval has the other sign
};
[[nodiscard]] Verdict verdictOf(const PairedDifference& difference, Direction stated);
/// Returns "agrees", "differs" or "cannot tell".
[[nodiscard]] const char* textOf(Verdict verdict);

} // namespace residua::projects
