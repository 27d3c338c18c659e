// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/json_tree.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace residua::projects {

namespace {

std::string escapedForPointer(std::string_view key)
{
    std::string out;
    for (const char c : key) {
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

/// "line 3, column 7" of the `position`-th character, counted from 1.
std::string lineAndColumn(std::string_view text, std::size_t position)
{
    const std::string_view before = text.substr(0, std::min(position == 0 ? 0 : position - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t lastBreak = before.rfind('\n');
    const std::size_t column = lastBreak == std::string_view::npos ? before.size() + 1 : before.size() - lastBreak;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// The reason without the library's prefix: "[json.exception…] parse error at line 1, column 2: <reason>".
std::string reasonOf(std::string_view what)
{
    for (const std::string_view prefix : {"] ", "parse error at ", ": "}) {
        const std::size_t at = what.find(prefix);
        if (at == std::string_view::npos) {
            break;
        }
        what.remove_prefix(at + prefix.size());
    }
    return asUtf8(what); // it quotes what was read, which may be any bytes
}

/// Builds the tree from the parser's events; keeps only the path of open containers.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit TreeBuilder(std::string_view text) : m_text(text) {}

    bool null() override { return add({nullptr}) != nullptr; }
    bool boolean(bool value) override { return add({value}) != nullptr; }
    bool number_integer(number_integer_t value) override { return add({std::int64_t{value}}) != nullptr; }
    bool number_unsigned(number_unsigned_t value) override
    {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return add({static_cast<double>(value)}) != nullptr; // refused where a whole number is wanted
        }
        return add({static_cast<std::int64_t>(value)}) != nullptr;
    }
    bool number_float(number_float_t value, const string_t&) override { return add({value}) != nullptr; }
    bool string(string_t& value) override { return add({std::move(value)}) != nullptr; }
    bool binary(binary_t&) override { return false; } // no such thing in text
    bool start_object(std::size_t) override { return open(JsonObject{}); }
    bool end_object() override { return noRepeatedKey() && close(); }
    bool start_array(std::size_t) override { return open(JsonArray{}); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override
    {
        m_key = std::move(value);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override
    {
        return fail(lineAndColumn(m_text, position), reasonOf(error.what()));
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
    bool fail(std::string place, std::string message)
    {
        m_error = Error{std::move(place), std::move(message)};
        return false;
    }

    JsonValue* add(JsonValue value)
    {
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
        if (m_open.size() == kMaxJsonDepth) {
            return fail(pointer(), "is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
        }
        JsonValue* value = add({std::move(container)});
        if (value != nullptr) {
            m_open.push_back(value); // stays where it is: its parent does not grow before it is closed
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
        std::vector<std::string_view> keys;
        for (const JsonMember& member : std::get<JsonObject>(m_open.back()->data)) {
            keys.push_back(member.key);
        }
        std::sort(keys.begin(), keys.end());
        const auto twin = std::adjacent_find(keys.begin(), keys.end());
        if (twin == keys.end()) {
            return true;
        }
        return fail(pointer() + "/" + escapedForPointer(*twin), "is given twice; expected each key once");
    }

    /// Of the innermost open container.
    std::string pointer() const
    {
        std::string out;
        for (std::size_t i = 1; i < m_open.size(); ++i) {
            if (const auto* array = std::get_if<JsonArray>(&m_open[i - 1]->data)) {
                out += "/" + std::to_string(array->size() - 1);
            } else {
                out += "/" + escapedForPointer(std::get<JsonObject>(m_open[i - 1]->data).back().key);
            }
        }
        return out;
    }

    std::string_view m_text;
    JsonValue m_root;
    std::vector<JsonValue*> m_open;
    std::string m_key;
    std::size_t m_count = 0;
    std::optional<Error> m_error;
};

} // namespace

Result<JsonValue> parseJson(std::string_view text)
{
    if (text.size() > kMaxJsonBytes) {
        return Error{"document", "is " + std::to_string(text.size() >> 20) + " MiB long; at most " +
                                     std::to_string(kMaxJsonBytes >> 20) + " MiB are read"};
    }
    TreeBuilder builder(text);
    const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return std::move(builder).result(parsed);
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
