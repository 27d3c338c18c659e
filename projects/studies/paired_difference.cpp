// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/paired_difference.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>
#include <set>
#include <string_view>

namespace residua::projects {
namespace {

/// Returns the continued fraction of the incomplete beta function by Lentz's method. It converges fast if
/// x < (a + 1)/(a + b + 2).
double betaFraction(double a, double b, double x)
{
    constexpr int kMostTerms = 10'000;
    constexpr double kTiny = 1e-300;
    const auto away = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
    double c = 1;
    double d = 1 / away(1 - (a + b) * x / (a + 1));
    double fraction = d;
    for (int m = 1; m < kMostTerms; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away(1 + even * d);
        c = away(1 + even / c);
        fraction *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away(1 + odd * d);
        c = away(1 + odd / c);
        fraction *= c * d;
        if (std::abs(c * d - 1) < std::numeric_limits<double>::epsilon()) {
            break;
        }
    }
    return fraction;
}

/// Returns the regularised incomplete beta function I_x(a, b), where `rest` is 1 − x.
double incompleteBeta(double a, double b, double x, double rest)
{
    if (x <= 0 || rest <= 0) {
        return x <= 0 ? 0 : 1;
    }
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest));
    return x < (a + 1) / (a + b + 2) ? front * betaFraction(a, b, x) / a : 1 - front * betaFraction(b, a, rest) / b;
}

/// Returns P(T > t) of Student's distribution for t ≥ 0.
double studentTail(double t, double degrees)
{
    const double square = t * t;
    return incompleteBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square)) / 2;
}

} // namespace

double studentQuantile(double probability, double degrees)
{
    if (probability < 0.5) {
        return -studentQuantile(1 - probability, degrees);
    }
    const double tail = 1 - probability;
    double low = 0;
    double high = 1;
    while (studentTail(high, degrees) > tail && std::isfinite(high)) {
        low = high;
        high *= 2;
    }
    constexpr int kHalvings = 100; // more than a double has bits
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = low + (high - low) / 2;
        (studentTail(middle, degrees) > tail ? low : high) = middle;
    }
    return low + (high - low) / 2;
}

PairedDifference pairedDifference(std::span<const double> a, std::span<const double> b, double confidence)
{
    std::vector<double> differences;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (std::isfinite(a[i]) && std::isfinite(b[i])) {
            differences.push_back(a[i] - b[i]);
        }
    }
    const MeanOfSeveral mean = meanOf(differences);
    const double halfWidth = mean.count < 2 ? std::numeric_limits<double>::infinity()
                                            : intervalFactor(mean.count, confidence) * mean.deviation;
    return {mean.count, mean.mean, halfWidth, mean.deviation};
}

PairedDifference pairedBySeed(std::span<const SeededValue> a, std::span<const SeededValue> b, double confidence)
{
    std::vector<double> left;
    std::vector<double> right;
    std::set<std::string_view> paired; // a repeated run is no further evidence
    for (const SeededValue& value : a) {
        const auto twin = std::ranges::find(b, value.seed, &SeededValue::seed);
        if (twin != b.end() && paired.insert(value.seed).second) {
            left.push_back(value.value);
            right.push_back(twin->value);
        }
    }
    return pairedDifference(left, right, confidence);
}

double intervalFactor(std::size_t count, double confidence)
{
    if (count < 2) {
        return std::numeric_limits<double>::infinity();
    }
    const auto values = static_cast<double>(count);
    return studentQuantile((1 + confidence) / 2, values - 1) / std::sqrt(values);
}

MeanOfSeveral meanOf(std::span<const double> values)
{
    MeanOfSeveral found{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(), 0};
    const auto isFinite = [](double value) { return std::isfinite(value); };
    double sum = 0;
    for (const double value : values | std::views::filter(isFinite)) {
        sum += value;
        ++found.count;
    }
    const auto count = static_cast<double>(found.count);
    if (found.count > 0) {
        found.mean = sum / count;
    }
    if (found.count > 1) {
        double squares = 0;
        for (const double value : values | std::views::filter(isFinite)) {
            squares += (value - found.mean) * (value - found.mean);
        }
        found.deviation = std::sqrt(squares / (count - 1));
    }
    return found;
}

MeanOfSeveral meanOf(std::span<const SeededValue> values)
{
    auto numbers = mapped(values, &SeededValue::value);
    return meanOf(numbers);
}

PairedDifference differenceOf(std::span<const SeededValue> a, std::span<const SeededValue> b)
{
    const PairedDifference paired = pairedBySeed(a, b);
    return paired.pairs > 0 ? paired : differenceOfMeans(meanOf(a), meanOf(b));
}

namespace {

constexpr int kDigits = 5; ///< of a mean without a deviation

/// Formats a value with the decimals of an uncertainty that has two significant digits.
std::string withUncertainty(double value, double uncertainty)
{
    if (!std::isfinite(uncertainty) || uncertainty <= 0) {
        return numberText(value, kDigits);
    }
    constexpr double kMostDecimals = 9;
    const double decimals = std::clamp(1 - std::floor(std::log10(uncertainty)), 0.0, kMostDecimals);
    const int shown = static_cast<int>(decimals);
    return fixedText(value, shown) + " ± " + fixedText(uncertainty, shown);
}

} // namespace

std::map<std::int64_t, PairedDifference> differencesByStep(const SeededSeries& a, const SeededSeries& b)
{
    std::map<std::int64_t, PairedDifference> differences;
    for (const auto& [step, values] : a) {
        if (const auto other = b.find(step); other != b.end()) {
            differences.emplace(step, differenceOf(values, other->second));
        }
    }
    return differences;
}

std::string textOf(const MeanOfSeveral& mean)
{
    return mean.count == 0 ? "–"
                           : withUncertainty(mean.mean, mean.deviation) +
                                 (mean.count > 1 ? " (" + std::to_string(mean.count) + ")" : "");
}

std::string textOf(const PairedDifference& difference)
{
    if (std::isnan(difference.mean)) {
        return "–";
    }
    const std::string text = withUncertainty(difference.mean, difference.halfWidth);
    const bool isZero = text.find_first_of("123456789") > text.find(' '); // as written
    return (difference.mean > 0 && !isZero ? "+" : "") + text + " (" +
           (difference.pairs > 0 ? countText(difference.pairs, "pair") : "means") + ")";
}

std::optional<std::size_t> pairsToDecide(const PairedDifference& difference, double confidence)
{
    if (!std::isfinite(difference.mean) || !std::isfinite(difference.deviation)) {
        return std::nullopt;
    }
    const auto isOpen = [&](std::size_t pairs) {
        const auto count = static_cast<double>(pairs);
        const double t = studentQuantile((1 + confidence) / 2, count - 1);
        return t * difference.deviation / std::sqrt(count) >= std::abs(difference.mean);
    };
    const auto counts = std::views::iota(std::size_t{2}, kMostPairs + 1);
    const auto found = std::ranges::partition_point(counts, isOpen);
    return found == counts.end() ? kMostPairs + 1 : *found;
}

PairedDifference differenceOfMeans(const MeanOfSeveral& a, const MeanOfSeveral& b, double confidence)
{
    PairedDifference found{0, a.mean - b.mean, std::numeric_limits<double>::infinity()};
    const std::size_t fewest = std::min(a.count, b.count);
    if (fewest < 2) {
        return found;
    }
    const auto ofMean = [](const MeanOfSeveral& each) {
        return each.deviation * each.deviation / static_cast<double>(each.count);
    };
    const auto perDegree = [&](const MeanOfSeveral& each) {
        return ofMean(each) * ofMean(each) / static_cast<double>(each.count - 1);
    };
    const double variance = ofMean(a) + ofMean(b);
    const bool known = a.is == MeanOfSeveral::Deviation::Known && b.is == MeanOfSeveral::Deviation::Known;
    const double degrees =
        known && variance > 0 ? variance * variance / (perDegree(a) + perDegree(b)) : static_cast<double>(fewest - 1);
    found.halfWidth = studentQuantile((1 + confidence) / 2, degrees) * std::sqrt(variance);
    found.deviation = std::hypot(a.deviation, b.deviation);
    return found;
}

Verdict verdictOf(const PairedDifference& difference, Direction stated)
{
    const bool below = difference.high() < 0;
    const bool above = difference.low() > 0;
    if (!below && !above) {
        return Verdict::CannotTell;
    }
    return below == (stated == Direction::Below) ? Verdict::Agrees : Verdict::Differs;
}

const char* textOf(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Agrees:
        return "agrees";
    case Verdict::Differs:
        return "differs";
    case Verdict::CannotTell:
        break;
    }
    return "cannot tell";
}

double rankCorrelation(std::span<const double> a, std::span<const double> b)
{
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const auto isNan = [](double value) { return std::isnan(value); };
    if (a.size() != b.size() || a.size() < 3 || std::ranges::any_of(a, isNan) || std::ranges::any_of(b, isNan)) {
        return kNone;
    }
    const double mean = (static_cast<double>(a.size()) + 1) / 2;
    const auto ranksOf = [mean](std::span<const double> values) {
        std::vector<double> sorted(values.begin(), values.end());
        std::ranges::sort(sorted);
        std::vector<double> ranks;
        for (const double value : values) {
            const auto equal = std::ranges::equal_range(sorted, value);
            const auto first = static_cast<double>(equal.begin() - sorted.begin());
            const auto last = static_cast<double>(equal.end() - sorted.begin());
            ranks.push_back((first + 1 + last) / 2 - mean);
        }
        return ranks;
    };
    const std::vector<double> x = ranksOf(a);
    const std::vector<double> y = ranksOf(b);
    const double both = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    const double lengths = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0) *
                                     std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
    return lengths > 0 ? both / lengths : kNone;
}

} // namespace residua::projects
