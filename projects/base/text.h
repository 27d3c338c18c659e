// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// Texts of others, made safe for a terminal, a shell and a table.
namespace residua {

/// Numbers and lists as text, and suggestions for misspelt words.

/// The shortest decimal that reads back to the same bits, without a trailing ".0".
[[nodiscard]] std::string numberText(double value);
/// The value with `digits` significant digits and a full stop in every locale: "1.41421", "1e+06".
[[nodiscard]] std::string numberText(double value, int digits);
/// The value with `decimals` decimals, zeros included, and a full stop in every locale: "0.50", "1234.5".
[[nodiscard]] std::string fixedText(double value, int decimals);
/// The number with grouped digits: "1,234,567".
[[nodiscard]] std::string groupedText(std::int64_t number);
/// The count with its noun, which takes an s in the plural: "1 node", "1,234 nodes".
[[nodiscard]] std::string countText(std::size_t count, std::string_view noun);
/// A share as a percentage with at most one decimal: "12.5 %".
[[nodiscard]] std::string percentText(double share);
/// "2 d 03 h", "1 h 02 min", "3 min 05 s" or "12 s"; "–" if the value is negative or not finite.
[[nodiscard]] std::string durationText(double seconds);

enum class Prefixes { Decimal, Binary };

/// A number with the prefix of its unit: 12'345 is 12.345 and "k", or 1536 is 1.5 and "Ki".
struct Prefixed {
    double number = 0;
    std::string_view prefix; ///< empty for the unit itself
};

/// Returns the number with the largest prefix under which it is at least 1 after rounding to `digits` significant
/// digits.
[[nodiscard]] Prefixed prefixed(double value, Prefixes prefixes, int digits = 3);
/// The value with three significant digits and the prefixed unit: "950 B", "1.50 KiB", "12.3 M".
[[nodiscard]] std::string scaledText(double value, Prefixes prefixes, std::string_view unit = {},
                                     std::string_view space = " ");
/// A size or limit for a sentence, without trailing zeros: "2.5 GiB", "4 GiB". Tables use scaledText().
[[nodiscard]] std::string bytesText(double bytes);

/// Joins the items, formatted by `textOf`, with `between`: "a, b, c".
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

/// Joins the items as a choice: "a, b or c".
template <class Items, class TextOf = std::identity>
[[nodiscard]] std::string choiceText(Items&& items, TextOf textOf = {})
{
    std::string text = joinedText(items, ", ", textOf);
    const std::size_t last = text.rfind(", ");
    return last == std::string::npos ? text : text.replace(last, 2, " or ");
}

/// Returns the candidate nearest to `typed`, or an empty text if none is near enough.
template <class Candidates>
[[nodiscard]] std::string_view nearest(std::string_view typed, const Candidates& candidates);

/// The punctuation of a suggestion after a sentence.
struct HintForm {
    std::string_view before = "; ";
    std::string_view quote = "\""; ///< around the word
};
/// The form in the terminal, where words are typed without quotes: ", did you mean --steps?"
inline constexpr HintForm kTypedHint{", ", ""};

/// The suggestion at the end of a sentence that rejects a word: `; did you mean "adamw"?`.
[[nodiscard]] std::string didYouMean(std::string_view meant, HintForm form = {});
/// The suggestion of the candidate nearest to `typed`, or `otherwise` if none is near enough.
template <class Candidates>
[[nodiscard]] std::string meantHint(std::string_view typed, const Candidates& candidates, HintForm form = {},
                                    std::string_view otherwise = {})
{
    const std::string_view meant = nearest(typed, candidates);
    return meant.empty() ? std::string(otherwise) : didYouMean(meant, form);
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

template <class Candidates>
std::string_view nearest(std::string_view typed, const Candidates& candidates)
{
    constexpr std::size_t kLongestTyped = 64; // takes quadratic time; longer texts are not typing errors
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

/// Parses the whole of `text` as a number, with a full stop as the decimal separator in every locale. Returns nullopt
/// for other text and for a number out of the type's range. An unsigned type accepts digits only.
template <class Number>
[[nodiscard]] std::optional<Number> numberFrom(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

/// Whether line ends are kept. They are part of a text, but not of a name within a line.
enum class LineEnds { Keep, Escape };

/// Makes `text` safe for a terminal: escapes control characters, escape sequences and marks that change the writing
/// direction as \x1b or \u202e, and replaces invalid UTF-8 by U+FFFD. Keeps tabs.
[[nodiscard]] std::string printable(std::string_view text, LineEnds lineEnds);
/// True if printable() changes nothing in a name within a line.
[[nodiscard]] bool isPrintable(std::string_view name);

/// Returns a short text, such as a token, on one line and with its ends visible: a space there is "▁", another blank
/// is written as "\x0a" or "\u3000". Otherwise does the same as printable().
[[nodiscard]] std::string visible(std::string_view text);

/// Quotes a text with single quotes for a POSIX shell.
[[nodiscard]] std::string shellQuoted(std::string_view text);
/// Returns a word of a command that the user can copy, quoted if the shell would interpret it.
[[nodiscard]] std::string shellWord(std::string_view text);

/// Returns the text as a field of CSV, in quotes if it has a comma, a quote or a line end.
[[nodiscard]] std::string csvField(std::string_view text);

/// Returns `base` if it is free, else `base` + `between` + the first number from 2 that makes it free: "mlp2". Shortens
/// `base` between characters where the name would have more than `longest` bytes.
template <class Taken>
[[nodiscard]] std::string freeName(const std::string& base, Taken taken, std::string_view between = {},
                                   std::size_t longest = std::string::npos)
{
    std::string name = base;
    for (int i = 2; taken(name); ++i) {
        const std::string number = std::string(between) + std::to_string(i);
        const std::string_view room(base.data(), std::min(base.size(), longest - number.size()));
        name = base.substr(0, wholeCodePoints(room)) + number;
    }
    return name;
}

/// The most bytes of a name in a folder, as file systems limit them.
inline constexpr std::size_t kLongestFileName = 255;

/// Returns freeName() for a path that does not exist, not even as a dangling link: "runs/mlp-2".
[[nodiscard]] inline std::filesystem::path freePath(const std::filesystem::path& base, std::string_view between = "-")
{
    std::error_code ignored;
    return freeName(
        base.string(),
        [&](const std::string& path) {
            return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
        },
        between, base.native().size() - base.filename().native().size() + kLongestFileName);
}

} // namespace residua
