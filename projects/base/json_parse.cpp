// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/json_tree.h"

#include "projects/base/mapped.h"
#include "projects/base/utf8.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace residua::projects {

namespace {

/// Cuts a key to a length that fits a message. No key of a field is longer.
std::string tokenOf(std::string_view key)
{
    constexpr std::size_t kShown = 256;
    return pointerToken(asUtf8(key.substr(0, kShown)));
}

/// Formats the position of the character at `offset` as "line 3, column 7"; columns count bytes from 1.
std::string lineAndColumn(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t lastBreak = before.rfind('\n');
    const std::size_t column = lastBreak == std::string_view::npos ? before.size() + 1 : before.size() - lastBreak;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

bool isWordLetter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Names the first token of `rest` for a message.
std::string nameOfFront(std::string_view rest)
{
    constexpr std::size_t kShown = 20;
    if (rest.empty()) {
        return "the end of the text";
    }
    const auto code = static_cast<unsigned char>(rest.front());
    if (isWordLetter(rest.front())) {
        const std::string_view shown = rest.substr(0, kShown);
        return "\"" + std::string(shown.begin(), std::ranges::find_if_not(shown, isWordLetter)) + "\"";
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

/// Maps the library's reasons for errors within a string or a number to messages.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kReasons{
    {{"missing closing quote", "got the end of the text, expected a closing quote"},
     {"control character", "a text ends with its line here, expected it to be closed or an escape such as \\n"},
     {"forbidden character after backslash", "expected one of \" \\ / b f n r t u after the backslash"},
     {"4 hex digits", "expected four hexadecimal digits after \\u"},
     {"surrogate", "half of a pair of \\u escapes, expected the other half beside it"},
     {"ill-formed UTF-8", "this text is not valid UTF-8"}}};

/// Builds the tree from the parser's events. Keeps only the path of open containers.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit TreeBuilder(std::string_view text) : m_text(text) {}

    bool null() override { return add({nullptr}) != nullptr; }
    bool boolean(bool value) override { return add({value}) != nullptr; }
    bool number_integer(number_integer_t value) override { return add({std::int64_t{value}}) != nullptr; }
    bool number_unsigned(number_unsigned_t value) override
    {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return add({static_cast<double>(value)}) != nullptr; // refused later if an integer is required
        }
        return add({static_cast<std::int64_t>(value)}) != nullptr;
    }
    bool number_float(number_float_t value, const string_t&) override { return add({value}) != nullptr; }
    bool string(string_t& value) override { return add({std::move(value)}) != nullptr; }
    bool binary(binary_t&) override { return false; } // text contains no binary values
    bool start_object(std::size_t) override { return open(JsonObject{}); }
    bool end_object() override { return noRepeatedKey() && close(); }
    bool start_array(std::size_t) override { return open(JsonArray{}); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override
    {
        m_key = std::move(value);
        m_keyRead = true;
        return true;
    }
    /// `position` counts the bytes read, so the error is at the last of them. At the end of the text it is one beyond.
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override
    {
        const std::string_view reason = error.what();
        std::size_t at = position > m_text.size() ? m_text.size() : position - 1;
        if (reason.find("number overflow") != std::string_view::npos) {
            return fail(lineAndColumn(m_text, position - token.size()), "the number " + token.substr(0, kShownDigits) +
                                                                            (token.size() > kShownDigits ? "…" : "") +
                                                                            " is too large to be held");
        }
        const auto known = std::ranges::find_if(
            kReasons, [&](const auto& row) { return reason.find(row.first) != std::string_view::npos; });
        if (known != kReasons.end()) {
            return fail(lineAndColumn(m_text, at), std::string(known->second));
        }
        const bool digit = reason.find("invalid number") != std::string_view::npos;
        while (!digit && at > 0 && at < m_text.size() && isWordLetter(m_text[at]) && isWordLetter(m_text[at - 1])) {
            --at; // back to the start of the word or number
        }
        const bool colon = reason.find("object separator") != std::string_view::npos;
        return fail(lineAndColumn(m_text, at), "got " + nameOfFront(m_text.substr(at)) + ", expected " +
                                                   (digit   ? "a digit"
                                                    : colon ? "':' after the key"
                                                            : expected()));
    }

    Result<JsonValue> result(bool parsed) &&
    {
        if (m_error) {
            return *std::move(m_error);
        }
        if (!parsed) {
            return Error{"document", "cannot be read as JSON"};
        }
        return std::move(m_root);
    }

private:
    static constexpr std::size_t kShownDigits = 40;

    bool fail(std::string place, std::string message)
    {
        m_error = Error{std::move(place), std::move(message)};
        return false;
    }

    /// Lists what the parser accepts at its current position.
    [[nodiscard]] std::string expected() const
    {
        const std::string value = "a value: an object, a list, a text in double quotes, a number, true, false or null";
        if (m_open.empty()) {
            return m_count == 0 ? value : "the end: a document is one value";
        }
        if (m_keyRead) {
            return value;
        }
        if (const auto* const array = std::get_if<JsonArray>(&m_open.back()->data)) {
            return array->empty() ? value + ", or ']'" : "',' and another value, or ']'";
        }
        const bool empty = std::get<JsonObject>(m_open.back()->data).empty();
        return empty ? "a key in double quotes, or '}'" : "',' and another key in double quotes, or '}'";
    }

    JsonValue* add(JsonValue value)
    {
        m_keyRead = false;
        if (++m_count > kMaxJsonValues) {
            fail("document", "holds more than " + std::to_string(kMaxJsonValues) + " values; a project is far smaller");
            return nullptr;
        }
        if (m_open.empty()) {
            m_root = std::move(value);
            return &m_root;
        }
        if (auto* array = std::get_if<JsonArray>(&m_open.back()->data)) {
            return &array->emplace_back(std::move(value));
        }
        return &std::get<JsonObject>(m_open.back()->data).emplace_back(std::move(m_key), std::move(value)).value;
    }

    template <class Container>
    bool open(Container container)
    {
        JsonValue* value = add({std::move(container)});
        if (value != nullptr) {
            m_open.push_back(value); // stays valid: the parent does not grow while this one is open
        }
        return value != nullptr;
    }

    bool close()
    {
        m_open.pop_back();
        return true;
    }

    bool noRepeatedKey()
    {
        auto keys = mapped<std::string_view>(std::get<JsonObject>(m_open.back()->data), &JsonMember::key);
        const auto twice = keyGivenTwice(std::move(keys));
        return !twice || fail(pointer() + "/" + tokenOf(*twice), "is given twice; expected each key once");
    }

    /// The JSON pointer to the innermost open container.
    std::string pointer() const
    {
        std::string out;
        for (std::size_t i = 1; i < m_open.size(); ++i) {
            if (const auto* array = std::get_if<JsonArray>(&m_open[i - 1]->data)) {
                out += "/" + std::to_string(array->size() - 1);
            } else {
                out += "/" + tokenOf(std::get<JsonObject>(m_open[i - 1]->data).back().key);
            }
        }
        return out;
    }

    std::string_view m_text;
    JsonValue m_root;
    std::vector<JsonValue*> m_open;
    std::string m_key;
    bool m_keyRead = false; ///< true until the key's value has been read
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
    const std::string_view text = RESIDUA_TRY(utf8Text(bytes));
    if (const auto deep = tooDeep(text, kDeepestJson)) {
        return Error{lineAndColumn(text, deep->at), deep->message};
    }
    TreeBuilder builder(text);
    const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return std::move(builder).result(parsed);
}

std::string JsonPlace::text() const
{
    if (parent == nullptr) {
        return "document";
    }
    const std::string before = parent->parent == nullptr ? "" : parent->text();
    return before + "/" + (index == SIZE_MAX ? tokenOf(key) : std::to_string(index));
}

} // namespace residua::projects
