// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/axis.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

namespace residua::resources {
namespace {

constexpr double kLeastShare = 1e-9;    ///< of the magnitude; values that differ by less count as one value
constexpr double kReach = 0.05;         ///< of a single value's magnitude, on both sides of it
constexpr double kMostDecades = 200;    ///< so that the quotient of a range's ends is finite
constexpr double kLeastExponent = -280; ///< below, doubles lose digits
constexpr double kLeastDecades = 0.05;  ///< on both sides of a single value
constexpr double kWithoutLogarithm = 6; ///< decades below the highest value, if the lowest has no logarithm

constexpr int kPlainBelow = 5;   ///< 10^5: up to here numbers are written in full
constexpr int kPlainFrom = -4;   ///< 10^-4: from here on
constexpr int kUnitDecimals = 2; ///< with more decimals the number without its unit is no longer
constexpr int kLargestUnit = 15; ///< P: above 10^18 numbers have an exponent
constexpr int kMostDigits = 17;  ///< of a double
constexpr const char* kThinSpace = "\u2009";
constexpr std::array<const char*, 6> kUnits{"", "k", "M", "G", "T", "P"};

/// number · 10^exponent, exact to the last digit if both are small.
double decimal(double number, int exponent)
{
    return exponent < 0 ? number / std::pow(10.0, -exponent) : number * std::pow(10.0, exponent);
}

/// Returns the exponent of a number's first digit; 0 for 0.
int exponentOf(double value)
{
    return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
}

/// Formats the number with `decimals` decimals, digits grouped from 10,000 on, and a minus as long as a plus.
std::string plain(double value, int decimals)
{
    std::array<char, 400> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), std::abs(value),
                                       std::chars_format::fixed, std::max(decimals, 0)); // independent of the locale
    std::string number(text.data(), written.ptr);
    const std::size_t whole = std::min(number.find('.'), number.size());
    for (std::size_t at = whole; whole > 4 && at > 3;) {
        at -= 3;
        number.insert(at, ",");
    }
    return (value < 0 ? "\u2212" : "") + number;
}

std::string superscript(int exponent)
{
    static constexpr std::array<const char*, 10> kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = exponent < 0 ? "⁻" : "";
    for (const char digit : std::to_string(std::abs(exponent))) {
        text += kDigits[static_cast<std::size_t>(digit - '0')];
    }
    return text;
}

std::string withUnit(double value, int unit, int decimals)
{
    return plain(decimal(value, -unit), decimals) + kThinSpace + kUnits[static_cast<std::size_t>(unit / 3)];
}

std::string withExponent(double value, int exponent, int decimals)
{
    return plain(decimal(value, -exponent), decimals) + "·10" + superscript(exponent);
}

/// The common format of all numbers of one axis.
struct Writing {
    enum class Form { Plain, Unit, Exponent } form = Form::Plain;
    int exponent = 0; ///< of the unit, or the power of ten
    int decimals = 0;

    [[nodiscard]] std::string operator()(double value) const
    {
        if (value == 0) {
            return "0";
        }
        return form == Form::Plain  ? plain(value, decimals)
               : form == Form::Unit ? withUnit(value, exponent, decimals)
                                    : withExponent(value, exponent, decimals);
    }
};

/// Returns the format for numbers whose largest has its first digit at 10^first, and whose last significant digit is at
/// 10^last.
Writing writingOf(int first, int last)
{
    const auto decimalsAt = [last](int exponent) { return std::clamp(exponent - last, 0, kMostDigits); };
    if (first < kPlainFrom || first >= kLargestUnit + 3) {
        return {Writing::Form::Exponent, first, decimalsAt(first)};
    }
    if (first >= kPlainBelow) {
        for (int unit = first / 3 * 3; unit > 0; unit -= 3) {
            if (decimalsAt(unit) <= kUnitDecimals) {
                return {Writing::Form::Unit, unit, decimalsAt(unit)};
            }
        }
    }
    return {Writing::Form::Plain, 0, decimalsAt(0)};
}

std::string trimmed(std::string number)
{
    if (number.find('.') != std::string::npos) {
        number.erase(number.find_last_not_of('0') + 1);
        if (number.back() == '.') {
            number.pop_back();
        }
    }
    return number;
}

AxisTick powerTick(double lead, int exponent)
{
    const double value = decimal(lead, exponent);
    const bool word = exponent < kPlainFrom || exponent >= kLargestUnit + 3;
    if (word && lead == 1) {
        return {value, "10" + superscript(exponent)};
    }
    return {value, writingOf(exponent, exponent)(value)};
}

/// True if the range is finite and in order.
bool makesSense(AxisRange range)
{
    return std::isfinite(range.low) && std::isfinite(range.high) && std::isfinite(range.high - range.low) &&
           range.low < range.high;
}

/// Returns the range around values from `low` to `high`, cut to `bounds` if these hold the values.
AxisRange within(const std::optional<AxisRange>& bounds, AxisRange range, double low, double high)
{
    const bool holds = bounds && low >= bounds->low && high <= bounds->high;
    return holds ? AxisRange{std::max(range.low, bounds->low), std::min(range.high, bounds->high)} : range;
}

} // namespace

AxisRange linearRange(double low, double high, double margin, const std::optional<AxisRange>& bounds)
{
    if (!(low <= high)) {
        return {};
    }
    low = std::clamp(low, -kFarthest, kFarthest);
    high = std::clamp(high, -kFarthest, kFarthest);
    const double magnitude = std::max(std::abs(low), std::abs(high));
    const double size = high - low;
    if (size >= std::max(magnitude * kLeastShare, kNearest)) {
        return within(bounds, {low - size * margin, high + size * margin}, low, high);
    }
    const double centre = low + size / 2;
    const double reach = magnitude >= kNearest ? magnitude * kReach : 0.5;
    return within(bounds, {centre - reach, centre + reach}, low, high);
}

AxisRange logRange(double low, double high, double margin, const std::optional<AxisRange>& bounds)
{
    if (!(high > 0)) {
        return {1, 10};
    }
    const double last = std::clamp(std::log10(high), std::log10(kNearest), std::log10(kFarthest));
    const double least = std::max(last - kMostDecades, kLeastExponent);
    const double first = low > 0 ? std::clamp(std::log10(low), least, last) : last - kWithoutLogarithm;
    const double grow = last - first < 2 * kLeastDecades ? kLeastDecades : (last - first) * margin;
    const AxisRange range{std::pow(10.0, first - grow), std::pow(10.0, last + grow)};
    // The lower bound may have no logarithm.
    return {range.low, within(bounds, range, low, high).high};
}

std::vector<AxisTick> linearTicks(AxisRange range, int count, double least)
{
    if (!makesSense(range)) {
        return {};
    }
    const double rough = std::max((range.high - range.low) / std::max(count, 1), std::numeric_limits<double>::min());
    int exponent = exponentOf(rough);
    const double share = decimal(rough, -exponent);
    double lead = share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10;
    if (decimal(lead, exponent) < least) {
        exponent = exponentOf(least);
        lead = std::round(decimal(least, -exponent));
    }
    // By index and not by adding, because far from zero the next tick may round to the same double.
    const double first = std::ceil(range.low / decimal(lead, exponent));
    const int most = 2 * std::max(count, 1) + 1;
    std::vector<AxisTick> ticks;
    for (int i = 0; i < most; ++i) {
        const double value = decimal((first + i) * lead, exponent) + 0.0; // no negative zero
        if (value >= range.low && value <= range.high && (ticks.empty() || value > ticks.back().value)) {
            ticks.push_back({value, {}});
        }
    }
    int largest = ticks.empty() ? 0 : std::numeric_limits<int>::min();
    for (const AxisTick& tick : ticks) {
        largest = std::max(largest, tick.value == 0 ? exponent : exponentOf(tick.value));
    }
    const Writing writing = writingOf(largest, lead == 10 ? exponent + 1 : exponent);
    for (AxisTick& tick : ticks) {
        tick.label = writing(tick.value);
    }
    // Neighbouring doubles may have the same text.
    const auto alike = std::ranges::unique(ticks, {}, &AxisTick::label);
    ticks.erase(alike.begin(), alike.end());
    return ticks;
}

std::vector<AxisTick> logTicks(AxisRange range, int count)
{
    if (!makesSense(range) || range.low <= 0) {
        return {};
    }
    const auto within = [&](std::initializer_list<double> leads) {
        std::vector<std::pair<double, int>> found;
        for (int exponent = exponentOf(range.low); exponent <= exponentOf(range.high) + 1; ++exponent) {
            for (const double lead : leads) {
                const double value = decimal(lead, exponent);
                if (value >= range.low && value <= range.high) {
                    found.emplace_back(lead, exponent);
                }
            }
        }
        return found;
    };
    constexpr std::size_t kEnough = 3;
    auto powers = within({1});
    if (powers.size() < kEnough) {
        powers = within({1, 2, 5});
        if (powers.size() < kEnough) {
            return linearTicks(range, count);
        }
    } else {
        const int wanted = std::max(count, 1);
        const int stride = (static_cast<int>(powers.size()) + wanted - 1) / wanted;
        std::erase_if(powers, [stride](const auto& power) { return power.second % stride != 0; });
    }
    std::vector<AxisTick> ticks;
    for (const auto& [lead, exponent] : powers) {
        ticks.push_back(powerTick(lead, exponent));
    }
    return ticks;
}

std::string shortNumber(double value, int digits)
{
    if (!std::isfinite(value)) {
        return std::isnan(value) ? "NaN" : value > 0 ? "∞" : "\u2212∞";
    }
    if (value == 0) {
        return "0";
    }
    std::array<char, 40> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size() - 1, value, std::chars_format::scientific,
                                       std::max(digits, 1) - 1);
    double rounded = value;
    std::from_chars(text.data(), written.ptr, rounded);
    const int first = std::atoi(std::strchr(text.data(), 'e') + 1);
    const int last = first - digits + 1;
    if (first < kPlainFrom || first >= kLargestUnit + 3) {
        const std::string number = trimmed(plain(decimal(rounded, -first), digits - 1));
        return number + "·10" + superscript(first);
    }
    if (first < kPlainBelow) {
        return trimmed(plain(last > 0 ? value : rounded, -last));
    }
    const int unit = first / 3 * 3;
    return trimmed(plain(decimal(rounded, -unit), unit - last)) + kThinSpace +
           kUnits[static_cast<std::size_t>(unit / 3)];
}

} // namespace residua::resources
