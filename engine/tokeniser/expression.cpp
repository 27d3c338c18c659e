// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokeniser/expression.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace residua::engine {
namespace {

// The inside of a class, so that they can stand in one.
constexpr std::string_view kSpaces =
    R"(\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWords = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr std::string_view kDigits = R"(\p{Nd})";
constexpr std::string_view kHexDigits = "0-9A-Fa-f";

constexpr std::array<std::string_view, 38> kCategories{
    "C",  "Cc", "Cf", "Cn", "Co", "Cs", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs", "Any"};
constexpr std::array<std::string_view, 8> kProperties{
    "Alphabetic", "Uppercase",   "Lowercase", "White_Space",
    "Emoji",      "Ideographic", "Hex_Digit", "Extended_Pictographic"};

/// Walks an expression once.
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
        } else if (m_classes == 0 && m_rest.starts_with("(?")) {
            group();
        } else if (first == '[') {
            openClass();
        } else if (first == ']' && m_classes > 0) {
            --m_classes;
            copy(1);
        } else if (m_classes > 0 && m_rest.starts_with("&&")) {
            m_fault = "the intersection && of character classes";
        } else if (m_classes == 0 && first == '{') {
            repetition();
        } else {
            copy(1);
        }
    }

    void copy(std::size_t count)
    {
        m_out += m_rest.substr(0, count);
        m_rest.remove_prefix(count);
    }

    void openClass()
    {
        if (m_classes > 0) {
            if (m_rest.starts_with("[:")) {
                const std::size_t end = m_rest.find(":]");
                if (end != std::string_view::npos) {
                    copy(end + 2);
                    return;
                }
            }
            m_fault = "a character class inside of another";
            return;
        }
        ++m_classes;
        copy(1);
        if (m_rest.starts_with("^")) {
            copy(1);
        }
        if (m_rest.starts_with("]")) { // a bracket that stands first is one of the characters
            m_out += "\\]";
            m_rest.remove_prefix(1);
        }
    }

    /// Ruby's m lets the point match line ends, which PCRE2 calls s.
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

    /// In Ruby a plus behind it repeats it once more, in PCRE2 it forbids to go back.
    void repetition()
    {
        const std::size_t end = m_rest.find('}');
        if (end == std::string_view::npos) {
            copy(1);
            return;
        }
        if (m_rest.substr(end + 1).starts_with('+')) {
            m_fault = "a plus behind the repetition " + std::string(m_rest.substr(0, end + 1));
            return;
        }
        if (m_rest.starts_with("{,")) { // at most so often
            m_out += "{0";
            m_rest.remove_prefix(1);
            copy(end);
            return;
        }
        copy(end + 1);
    }

    void escape()
    {
        const char letter = m_rest[1];
        switch (letter) {
        case 's':
            return characters(kSpaces, false);
        case 'S':
            return characters(kSpaces, true);
        case 'w':
            return characters(kWords, false);
        case 'W':
            return characters(kWords, true);
        case 'd':
            return characters(kDigits, false);
        case 'D':
            return characters(kDigits, true);
        case 'h':
            return characters(kHexDigits, false);
        case 'H':
            return characters(kHexDigits, true);
        case 'p':
        case 'P':
            return property();
        case 'u':
            return codePoint();
        default:
            break;
        }
        constexpr std::string_view kOthers = "RXKNGCyYO"; // meant otherwise, or there alone
        if (kOthers.find(letter) != std::string_view::npos) {
            m_fault = std::string("the escape \\") + letter;
            return;
        }
        copy(2);
    }

    void characters(std::string_view inside, bool others)
    {
        m_rest.remove_prefix(2);
        if (m_classes == 0) {
            m_out += others ? "[^" : "[";
            m_out += inside;
            m_out += ']';
        } else if (!others) {
            m_out += inside;
        } else if (inside == kDigits) {
            m_out += "\\P{Nd}";
        } else if (inside == kSpaces) {
            m_out += "\\P{White_Space}";
        } else {
            m_fault = "\\W or \\H in a character class";
        }
    }

    void codePoint()
    {
        if (m_rest.size() < 6) {
            m_fault = "an unfinished \\u";
            return;
        }
        m_out += "\\x{" + std::string(m_rest.substr(2, 4)) + "}";
        m_rest.remove_prefix(6);
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
    int m_classes = 0; ///< 1 inside of a character class
    std::string m_fault;
};

} // namespace

Result<std::string> translatedExpression(std::string_view expression, const std::string& place)
{
    return Translator(expression, place).translated();
}

} // namespace residua::engine
