// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/pattern.h"

#include "projects/base/utf8.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace residua::engine {
namespace {

// The contents of a class, so that they can be used within another class.
constexpr std::string_view kSpaces =
    R"(\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
// Outside a class Oniguruma uses its table of Latin-1, which has six more numbers.
constexpr std::string_view kLoneWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";
constexpr std::string_view kDigits = R"(\p{Nd})";
constexpr std::string_view kHexDigits = "0-9A-Fa-f";

struct NamedSet {
    std::string_view name;
    std::string_view inside;
};
constexpr std::array<NamedSet, 14> kBrackets{{{"alpha", R"(\p{Alphabetic})"},
                                              {"alnum", R"(\p{Alphabetic}\p{Nd})"},
                                              {"ascii", R"(\x00-\x7f)"},
                                              {"blank", R"(\t\p{Zs})"},
                                              {"cntrl", R"(\p{Cc})"},
                                              {"digit", kDigits},
                                              {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
                                              {"lower", R"(\p{Lowercase})"},
                                              {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
                                              {"punct", R"(\p{P}\p{S})"},
                                              {"space", kSpaces},
                                              {"upper", R"(\p{Uppercase})"},
                                              {"word", kWords},
                                              {"xdigit", kHexDigits}}};

constexpr std::array<std::string_view, 38> kCategories{
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs", "Any"};
constexpr std::array<std::string_view, 8> kProperties{
    "Alphabetic", "Uppercase",   "Lowercase", "White_Space",
    "Emoji",      "Ideographic", "Hex_Digit", "Extended_Pictographic"};

/// Returns the number of leading digits of the base, 10 or 16.
std::size_t digits(std::string_view text, int base)
{
    const auto isDigit = [base](unsigned char c) { return (base == 16 ? std::isxdigit(c) : std::isdigit(c)) != 0; };
    return static_cast<std::size_t>(std::ranges::find_if_not(text, isDigit) - text.begin());
}

/// A repetition such as "{2}", "{2,}", "{,3}" or "{2,3}" at the beginning of `text`.
struct Repetition {
    std::size_t size = 0; ///< of the text; 0: there is no repetition
    bool isFixed = false; ///< has no comma
    bool isAtMost = false;
};
Repetition repetitionAt(std::string_view text)
{
    const std::size_t least = digits(text.substr(1), 10);
    std::size_t end = 1 + least;
    const bool comma = text.substr(end).starts_with(',');
    const std::size_t most = comma ? digits(text.substr(end + 1), 10) : 0;
    end += comma ? 1 + most : 0;
    const bool whole = text.substr(end).starts_with('}') && least + most > 0;
    return whole ? Repetition{end + 1, !comma, least == 0} : Repetition{};
}

/// Translates an expression in one pass.
class Translator {
public:
    Translator(std::string_view expression, const std::string& place) : m_rest(expression), m_place(place) {}

    Result<std::string> translated() &&
    {
        while (!m_rest.empty() && m_fault.empty()) {
            step();
        }
        if (!m_fault.empty()) {
            return Error{m_place, "the regular expression has " + m_fault + ", which is not supported here"};
        }
        return std::move(m_out);
    }

private:
    void step()
    {
        const char first = m_rest.front();
        if (first == '\\' && m_rest.size() > 1) {
            escape();
        } else if (m_inClass) {
            stepInClass();
        } else if (m_rest.starts_with("(?")) {
            group();
        } else if (first == '[') {
            openClass();
        } else if (first == '{') {
            repetition();
        } else {
            copy(1);
        }
    }

    void stepInClass()
    {
        const char first = m_rest.front();
        if (first == '[') {
            bracket();
        } else if (first == ']') {
            m_inClass = false;
            copy(1);
        } else if (m_rest.starts_with("&&")) {
            m_fault = "the intersection && of character classes";
        } else if (first == '-' && m_left == Left::Set && !m_rest.starts_with("-]")) {
            m_fault = "a range of characters that begins with a set of them";
        } else if (first == '-' && m_left == Left::Character && !m_rest.starts_with("-]")) {
            m_left = Left::Range;
            copy(1);
        } else {
            character(1);
        }
    }

    /// Copies `count` bytes that represent one character, or the next byte of one.
    void character(std::size_t count)
    {
        if (beginsCodePoint(m_rest.front())) {
            m_left = m_left == Left::Range ? Left::Nothing : Left::Character;
        }
        copy(count);
    }

    void copy(std::size_t count)
    {
        m_out += m_rest.substr(0, count);
        m_rest.remove_prefix(count);
    }

    void openClass()
    {
        m_inClass = true;
        m_left = Left::Nothing;
        copy(1);
        if (m_rest.starts_with("^")) {
            copy(1);
        }
        if (m_rest.starts_with("]")) { // a bracket that stands first is one of the characters
            m_out += '\\';
            character(1);
        }
    }

    /// Translates "[:alpha:]" or "[:^alpha:]".
    void bracket()
    {
        const std::size_t end = m_rest.find(":]");
        if (!m_rest.starts_with("[:") || end == std::string_view::npos) {
            m_fault = "a character class inside of another";
            return;
        }
        const std::string_view written = m_rest.substr(0, end + 2);
        const bool others = written.starts_with("[:^");
        const std::string_view name = written.substr(others ? 3 : 2, end - (others ? 3 : 2));
        const auto known = std::ranges::find(kBrackets, name, &NamedSet::name);
        if (known == kBrackets.end()) {
            m_fault = "the set " + std::string(written);
            return;
        }
        characters(known->inside, others, written.size());
    }

    /// Translates a group's options: Ruby's m lets the point match line ends, which is s in PCRE2.
    void group()
    {
        std::size_t end = 2;
        while (end < m_rest.size() &&
               (std::isalpha(static_cast<unsigned char>(m_rest[end])) != 0 || m_rest[end] == '-')) {
            ++end;
        }
        const bool options = end > 2 && end < m_rest.size() && (m_rest[end] == ':' || m_rest[end] == ')');
        if (!options) {
            copy(2);
            return;
        }
        std::string flags(m_rest.substr(0, end));
        std::ranges::replace(flags, 'm', 's');
        if (flags.find_first_not_of("(?isx-") != std::string::npos) {
            m_fault = "the option " + flags;
        }
        m_out += flags;
        m_rest.remove_prefix(end);
    }

    /// Translates a repetition. A plus after a counted repetition repeats it again in Ruby, but makes it possessive in
    /// PCRE2. A question mark after a fixed count makes it optional in Ruby, but has no effect in PCRE2.
    void repetition()
    {
        const Repetition found = repetitionAt(m_rest);
        if (found.size == 0) { // a literal brace
            m_out += '\\';
            copy(1);
            return;
        }
        const std::string_view behind = m_rest.substr(found.size);
        if (behind.starts_with('+') || (found.isFixed && behind.starts_with('?'))) {
            m_fault =
                (behind.starts_with('+') ? "a plus behind the repetition " : "a question mark behind the repetition ") +
                std::string(m_rest.substr(0, found.size));
            return;
        }
        if (found.isAtMost) {
            m_out += "{0";
            m_rest.remove_prefix(1);
            copy(found.size - 1);
            return;
        }
        copy(found.size);
    }

    void escape()
    {
        const char letter = m_rest[1];
        switch (letter) {
        case 's':
            return characters(kSpaces, false, 2);
        case 'S':
            return characters(kSpaces, true, 2);
        case 'w':
            return characters(m_inClass ? kWords : kLoneWords, false, 2);
        case 'W':
            return characters(m_inClass ? kWords : kLoneWords, true, 2);
        case 'd':
            return characters(kDigits, false, 2);
        case 'D':
            return characters(kDigits, true, 2);
        case 'h':
            return characters(kHexDigits, false, 2);
        case 'H':
            return characters(kHexDigits, true, 2);
        case 'p':
        case 'P':
            return property();
        case 'u':
            return codePoint();
        case 'x':
            return byte();
        case 'v':
            return put("\\x0b", 2);
        case 'b':
            return m_inClass ? character(2) : boundary();
        case 'B':
            return boundary();
        default:
            break;
        }
        constexpr std::string_view kOthers = "RXKNGCyYOVQE"; // meant otherwise, or there alone
        if (kOthers.find(letter) != std::string_view::npos) {
            m_fault = std::string("the escape \\") + letter;
            return;
        }
        character(2);
    }

    /// Writes `text` for the next `size` bytes, which are one character.
    void put(const std::string& text, std::size_t size)
    {
        character(0);
        m_out += text;
        m_rest.remove_prefix(size);
    }

    /// Writes a set of characters, or its complement, for the next `size` bytes.
    void characters(std::string_view inside, bool others, std::size_t size)
    {
        const std::string_view written = m_rest.substr(0, size);
        if (m_inClass && m_left == Left::Range) {
            m_fault = "a range of characters that ends with the set " + std::string(written);
            return;
        }
        m_rest.remove_prefix(size);
        m_left = Left::Set;
        const bool isProperty = inside.starts_with("\\p{") && inside.find('}') == inside.size() - 1;
        if (!m_inClass) {
            m_out += others ? "[^" : "[";
            m_out += inside;
            m_out += ']';
        } else if (!others) {
            m_out += inside;
        } else if (isProperty) {
            m_out += "\\P" + std::string(inside.substr(2));
        } else if (inside == kSpaces) {
            m_out += "\\P{White_Space}";
        } else {
            m_fault = std::string(written) + " in a character class";
        }
    }

    /// Translates \b and \B, because PCRE2's word characters differ from Ruby's.
    void boundary()
    {
        if (m_inClass) {
            m_fault = "\\B in a character class";
            return;
        }
        const bool between = m_rest[1] == 'b';
        const std::string word = "[" + std::string(kLoneWords) + "]";
        m_out += "(?:(?<=" + word + ")(?" + (between ? "!" : "=") + word + ")|(?<!" + word + ")(?" +
                 (between ? "=" : "!") + word + "))";
        m_rest.remove_prefix(2);
    }

    void codePoint()
    {
        constexpr std::size_t kDigitsOfIt = 4;
        const std::string_view number = m_rest.substr(2, kDigitsOfIt);
        if (number.size() < kDigitsOfIt || digits(number, 16) < kDigitsOfIt) {
            m_fault = "a \\u without its four hexadecimal digits";
            return;
        }
        put("\\x{" + std::string(number) + "}", 2 + kDigitsOfIt);
    }

    /// Translates "\x41" and "\x{41}". Without braces it is a byte of the text, but PCRE2 treats it as a character.
    void byte()
    {
        constexpr char kFirstBeyondAscii = '8';
        const std::string_view number = m_rest.substr(2, std::min<std::size_t>(digits(m_rest.substr(2), 16), 2));
        const std::size_t end = m_rest.starts_with("\\x{") ? m_rest.find('}') : std::string_view::npos;
        if (end != std::string_view::npos) {
            put(std::string(m_rest.substr(0, end + 1)), end + 1);
        } else if (number.size() == 2 && number.front() >= kFirstBeyondAscii) {
            m_fault = "the byte \\x" + std::string(number);
        } else {
            put(std::string(m_rest.substr(0, 2 + number.size())), 2 + number.size());
        }
    }

    void property()
    {
        const std::size_t end = m_rest.find('}');
        if (m_rest.size() < 4 || m_rest[2] != '{' || end == std::string_view::npos) {
            copy(2);
            if (m_rest.size() > 0) {
                copy(1);
            }
            return;
        }
        if (m_inClass && m_left == Left::Range) {
            m_fault = "a range of characters that ends with the set " + std::string(m_rest.substr(0, end + 1));
            return;
        }
        m_left = Left::Set;
        std::string_view name = m_rest.substr(3, end - 3);
        const bool others = (m_rest[1] == 'P') != name.starts_with('^');
        if (name.starts_with('^')) {
            name.remove_prefix(1);
        }
        const bool plain = std::ranges::find(kCategories, name) != kCategories.end() ||
                           std::ranges::find(kProperties, name) != kProperties.end();
        m_out += others ? "\\P{" : "\\p{";
        m_out += plain ? "" : "sc:"; // a script: PCRE2 would otherwise also take what the script merely uses
        m_out += name;
        m_out += '}';
        m_rest.remove_prefix(end + 1);
    }

    std::string_view m_rest;
    const std::string& m_place;
    std::string m_out;
    bool m_inClass = false;
    /// In a class: what precedes the next hyphen. Range: a hyphen that makes a range.
    enum class Left { Nothing, Character, Range, Set };
    Left m_left = Left::Nothing;
    std::string m_fault;
};

} // namespace

Result<std::string> translatedExpression(std::string_view expression, const std::string& place)
{
    return Translator(expression, place).translated();
}

} // namespace residua::engine
