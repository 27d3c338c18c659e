// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// Numbers and lists as text, and the words that people mean.
namespace residua {

/// Shortest decimal that reads back to the same bits, without a trailing ".0".
[[nodiscard]] std::string numberText(double value);
/// So many significant digits, with a full stop whatever the language of the system: "1.41421", "1e+06".
[[nodiscard]] std::string numberText(double value, int digits);
/// So many decimals, zeros included, with a full stop whatever the language of the system: "0.50", "1234.5".
[[nodiscard]] std::string fixedText(double value, int decimals);
/// "1,234,567".
[[nodiscard]] std::string groupedText(std::int64_t number);
/// "1 node", "1,234 nodes": the noun takes an s.
[[nodiscard]] std::string countText(std::size_t count, std::string_view noun);
/// A share as "12.5 %", with at most one decimal.
[[nodiscard]] std::string percentText(double share);
/// "2 d 03 h", "1 h 02 min", "3 min 05 s", "12 s"; "–" for what is negative or not finite.
[[nodiscard]] std::string durationText(double seconds);

enum class Prefixes { Decimal, Binary };

/// A number with the prefix of its unit: 12'345 as 12.345 and "k", or 1536 as 1.5 and "Ki".
struct Prefixed {
    double number = 0;
    std::string_view prefix; ///< empty: the unit itself
};

/// The number with the largest prefix under which it is at least 1 when it is rounded to so many significant digits.
[[nodiscard]] Prefixed prefixed(double value, Prefixes prefixes, int digits = 3);
/// Three significant digits and the prefixed unit: "950 B", "1.50 KiB", "12.3 M".
[[nodiscard]] std::string scaledText(double value, Prefixes prefixes, std::string_view unit = {},
                                     std::string_view space = " ");
/// A size or a limit in a sentence, without zeros at its end: "2.5 GiB", "4 GiB". A table has scaledText.
[[nodiscard]] std::string bytesText(double bytes);

/// The items one after another, each as `textOf` gives it, with `between` in between: "a, b, c".
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string joinedText(Items&& items, std::string_view between = ", ", TextOf textOf = {})
{
    std::string text;
    std::string_view before;
    for (auto&& item : items) {
        text.append(before).append(std::invoke(textOf, item));
        before = between;
    }
    return text;
}

/// The same as what one may choose from: "a, b or c".
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string choiceText(Items&& items, TextOf textOf = {})
{
    std::string text = joinedText(items, ", ", textOf);
    const std::size_t last = text.rfind(", ");
    return last == std::string::npos ? text : text.replace(last, 2, " or ");
}

/// The candidate that is nearest to what was typed, where it is near enough to be meant; else empty.
template <class Candidates>
[[nodiscard]] std::string_view nearest(std::string_view typed, const Candidates& candidates);

/// How a question about the word that was meant follows a sentence.
struct HintForm {
    std::string_view before = "; ";
    std::string_view quote = "\""; ///< around the word
};
/// In the terminal, where words are typed without quotes: ", did you mean --steps?"
inline constexpr HintForm kTypedHint{", ", ""};

/// The question at the end of a sentence that refuses a word: `; did you mean "adamw"?`.
[[nodiscard]] std::string didYouMean(std::string_view meant, HintForm form = {});
/// The same about the candidate that is nearest to what was typed; where none is near, `otherwise`.
template <class Candidates>
[[nodiscard]] std::string meantHint(std::string_view typed, const Candidates& candidates, HintForm form = {},
                                    std::string_view otherwise = {})
{
    const std::string_view meant = nearest(typed, candidates);
    return meant.empty() ? std::string(otherwise) : didYouMean(meant, form);
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

template <class Candidates>
std::string_view nearest(std::string_view typed, const Candidates& candidates)
{
    constexpr std::size_t kLongestTyped = 64; // the distance is quadratic, and longer is no slip
    std::string_view best;
    std::size_t least = typed.size() > kLongestTyped ? 0 : typed.size() / 3 + 2;
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = least == 0 ? 0 : editDistance(typed, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

} // namespace residua
