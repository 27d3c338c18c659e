// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/json_tree.h"

#include "projects/text_encoding.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace residua::projects {

namespace {

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

bool isLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string escapedForPointer(std::string_view key)
{
    constexpr std::size_t kShown = 256; // longer keys are nobody's, and messages are to be read
    std::string out;
    for (const char c : asUtf8(key.substr(0, kShown))) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

/// "line 3, column 7" of the character at `offset`, counted in bytes from 1.
std::string lineAndColumn(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t lastBreak = before.rfind('\n');
    const std::size_t column = lastBreak == std::string_view::npos ? offset + 1 : offset - lastBreak;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// What stands at the front of `rest`, as a message names it.
std::string nameOfFront(std::string_view rest)
{
    constexpr std::size_t kShown = 20;
    if (rest.empty()) {
        return "the end of the text";
    }
    const auto code = static_cast<unsigned char>(rest.front());
    if (isLetter(rest.front())) {
        const auto end = std::ranges::find_if_not(rest.substr(0, kShown), isLetter);
        return "\"" + std::string(rest.begin(), end) + "\"";
    }
    if (code == '\n' || code == '\r') {
        return "the end of the line";
    }
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const std::size_t length = utf8Length(rest);
    if (code < 0x20 || code == 0x7F || length == 0) {
        return std::string("the byte 0x") + kHex[code >> 4] + kHex[code & 15];
    }
    return "'" + std::string(rest.substr(0, length)) + "'";
}

void appendUtf8(std::string& out, std::uint32_t code)
{
    const auto byte = [&out](std::uint32_t bits) { out += static_cast<char>(static_cast<unsigned char>(bits)); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

/// RFC 8259 by recursive descent, which kMaxJsonDepth bounds. The first error stays and ends the descent.
class Parser {
public:
    explicit Parser(std::string_view text) : m_text(text) {}

    Result<JsonValue> parse()
    {
        JsonValue root;
        skipBlanks();
        if (readValue(root, Place{}, 0) && m_at < m_text.size()) {
            expected("the end: a document is one value");
        }
        if (m_error) {
            return *std::move(m_error);
        }
        return root;
    }

private:
    bool fail(std::string place, std::string message)
    {
        m_error = Error{std::move(place), std::move(message)};
        return false;
    }

    bool failAt(std::size_t offset, std::string message)
    {
        return fail(lineAndColumn(m_text, offset), std::move(message));
    }

    bool expected(std::string_view what)
    {
        return failAt(m_at, "got " + nameOfFront(m_text.substr(m_at)) + ", expected " + std::string(what));
    }

    [[nodiscard]] char front() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }

    void skipBlanks() { m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size()); }

    bool take(char c)
    {
        if (m_at == m_text.size() || m_text[m_at] != c) {
            return false;
        }
        ++m_at;
        skipBlanks();
        return true;
    }

    bool readValue(JsonValue& to, const Place& at, std::size_t depth)
    {
        if (++m_count > kMaxJsonValues) {
            return fail("document",
                        "holds more than " + std::to_string(kMaxJsonValues) + " values; a project is far smaller");
        }
        const char c = front();
        if (c == '{' || c == '[') {
            if (depth == kMaxJsonDepth) {
                return fail(at.text(), "is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
            }
            return c == '{' ? readObject(to.data.emplace<JsonObject>(), at, depth)
                            : readArray(to.data.emplace<JsonArray>(), at, depth);
        }
        const bool read = c == '"'                 ? readText(to.data.emplace<std::string>())
                          : isDigit(c) || c == '-' ? readNumber(to)
                                                   : readWord(to);
        skipBlanks();
        return read;
    }

    bool readObject(JsonObject& object, const Place& at, std::size_t depth)
    {
        take('{');
        if (take('}')) {
            return true;
        }
        do {
            JsonMember& member = object.emplace_back();
            if (front() != '"') {
                return expected(object.size() == 1 ? "a key in double quotes or '}'"
                                                   : "a key in double quotes after the comma");
            }
            if (!readText(member.key)) {
                return false;
            }
            skipBlanks();
            if (!take(':')) {
                return expected("':' after the key");
            }
            if (!readValue(member.value, Place{&at, member.key}, depth + 1)) {
                return false;
            }
        } while (take(','));
        return take('}') ? noRepeatedKey(object, at) : expected("',' or '}'");
    }

    bool readArray(JsonArray& array, const Place& at, std::size_t depth)
    {
        take('[');
        if (take(']')) {
            return true;
        }
        do {
            JsonValue& item = array.emplace_back();
            if (!readValue(item, Place{&at, {}, array.size() - 1}, depth + 1)) {
                return false;
            }
        } while (take(','));
        return take(']') || expected("',' or ']'");
    }

    bool noRepeatedKey(const JsonObject& object, const Place& at)
    {
        std::vector<std::string_view> keys;
        for (const JsonMember& member : object) {
            keys.push_back(member.key);
        }
        std::ranges::sort(keys);
        const auto twin = std::ranges::adjacent_find(keys);
        return twin == keys.end() || fail(Place{&at, *twin}.text(), "is given twice; expected each key once");
    }

    bool readWord(JsonValue& to)
    {
        const std::string_view rest = m_text.substr(m_at);
        const auto end = std::ranges::find_if_not(rest, isLetter);
        const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        if (word == "true" || word == "false") {
            to.data = word == "true";
        } else if (word != "null") {
            return expected("a value: an object, a list, a text in double quotes, a number, true, false or null");
        }
        m_at += word.size();
        return true;
    }

    bool readDigits()
    {
        if (!isDigit(front())) {
            return expected("a digit");
        }
        while (isDigit(front())) {
            ++m_at;
        }
        return true;
    }

    bool readNumber(JsonValue& to)
    {
        const std::size_t start = m_at;
        bool whole = true;
        m_at += front() == '-' ? 1 : 0;
        if (front() == '0') {
            ++m_at;
        } else if (!readDigits()) {
            return false;
        }
        if (front() == '.') {
            whole = false;
            ++m_at;
            if (!readDigits()) {
                return false;
            }
        }
        if (front() == 'e' || front() == 'E') {
            whole = false;
            ++m_at;
            m_at += front() == '+' || front() == '-' ? 1 : 0;
            if (!readDigits()) {
                return false;
            }
        }
        return holdNumber(to, start, whole);
    }

    /// A whole number that is too large stays a real one, which is refused where a whole one is wanted.
    bool holdNumber(JsonValue& to, std::size_t start, bool whole)
    {
        const std::string_view digits = m_text.substr(start, m_at - start);
        std::int64_t integer = 0;
        if (whole && std::from_chars(digits.data(), digits.data() + digits.size(), integer).ec == std::errc{}) {
            to.data = integer;
            return true;
        }
        double real = 0;
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), real);
        if (parsed.ec != std::errc{} && digits.find("e-") == std::string_view::npos &&
            digits.find("E-") == std::string_view::npos) {
            constexpr std::size_t kShown = 40;
            return failAt(start, "the number " + std::string(digits.substr(0, kShown)) +
                                     (digits.size() > kShown ? "…" : "") + " is too large to be held");
        }
        to.data = parsed.ec == std::errc{} ? real : 0.0; // nearer to zero than any number
        return true;
    }

    bool readText(std::string& to)
    {
        const std::size_t start = m_at++;
        for (;;) {
            const std::size_t end = m_text.find_first_of(kEndsPlainText, m_at);
            if (end == std::string_view::npos) {
                return failAt(start, "this text has no closing quote");
            }
            to += m_text.substr(m_at, end - m_at);
            m_at = end + 1;
            if (m_text[end] == '"') {
                break;
            }
            if (m_text[end] != '\\') {
                m_at = end;
                return failAt(end, "got " + nameOfFront(m_text.substr(end)) +
                                       " within a text, expected it to be closed or an escape such as \\n");
            }
            if (!readEscape(to)) {
                return false;
            }
        }
        return isUtf8(to) || failAt(start, "this text is not valid UTF-8");
    }

    /// Behind the backslash.
    bool readEscape(std::string& to)
    {
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
        const std::size_t known = m_at < m_text.size() ? kLetters.find(m_text[m_at]) : std::string_view::npos;
        if (known != std::string_view::npos) {
            to += kMeant[known];
            ++m_at;
            return true;
        }
        if (front() != 'u') {
            return expected("one of \" \\ / b f n r t u after the backslash");
        }
        const std::size_t start = m_at - 1;
        std::uint32_t code = 0;
        if (!readHex(code)) {
            return false;
        }
        const bool leads = code >= 0xD800 && code <= 0xDBFF;
        if (leads && m_text.substr(m_at, 2) == "\\u") {
            std::uint32_t trail = 0;
            ++m_at;
            if (!readHex(trail)) {
                return false;
            }
            code = trail >= 0xDC00 && trail <= 0xDFFF ? 0x10000 + ((code - 0xD800) << 10) + (trail - 0xDC00) : code;
        }
        if (code >= 0xD800 && code <= 0xDFFF) {
            return failAt(start, "half of a pair of \\u escapes, expected the other half beside it");
        }
        appendUtf8(to, code);
        return true;
    }

    /// Of the u at the front and the four digits behind it.
    bool readHex(std::uint32_t& code)
    {
        const std::string_view digits = m_text.substr(std::min(m_at + 1, m_text.size()), 4);
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() < 4 || parsed.ec != std::errc{} || parsed.ptr != digits.data() + 4) {
            return failAt(m_at, "expected four hexadecimal digits after \\u");
        }
        m_at += 5;
        return true;
    }

    /// A quote, a backslash and the control characters.
    static constexpr std::string_view kEndsPlainText{"\"\\\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"
                                                     "\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e"
                                                     "\x1f",
                                                     34};

    std::string_view m_text;
    std::size_t m_at = 0;
    std::size_t m_count = 0;
    std::optional<Error> m_error;
};

} // namespace

Result<JsonValue> parseJson(std::string_view bytes)
{
    if (bytes.size() > kMaxJsonBytes) {
        return Error{"document", "is " + std::to_string(bytes.size() >> 20) + " MiB long; at most " +
                                     std::to_string(kMaxJsonBytes >> 20) + " MiB are read"};
    }
    const Result<std::string_view> text = utf8Text(bytes);
    if (!text) {
        return text.error();
    }
    return Parser(*text).parse();
}

std::string Place::text() const
{
    if (parent == nullptr) {
        return "document";
    }
    const std::string before = parent->parent == nullptr ? "" : parent->text();
    return before + "/" + (index == SIZE_MAX ? escapedForPointer(key) : std::to_string(index));
}

} // namespace residua::projects
