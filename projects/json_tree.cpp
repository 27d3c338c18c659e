// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/json_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace residua::projects {

namespace {

/// The length of the well-formed UTF-8 sequence that `text` starts with; 0 for none. RFC 3629, section 4.
std::size_t utf8Length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return text.empty() ? 0 : 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xE0 && lead <= 0xEF) { // neither overlong forms nor surrogates
        return follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        return follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

class Printer {
public:
    std::string take() && { return std::move(m_out); }

    void print(const JsonValue& value, JsonLayout around, int depth)
    {
        const JsonLayout layout = around == JsonLayout::Inline ? around : value.layout;
        std::visit([&](const auto& data) { write(data, layout, depth); }, value.data);
    }

private:
    void write(std::nullptr_t, JsonLayout, int) { m_out += "null"; }
    void write(bool value, JsonLayout, int) { m_out += value ? "true" : "false"; }
    void write(std::int64_t value, JsonLayout, int) { m_out += std::to_string(value); }

    void write(double value, JsonLayout, int)
    {
        if (!std::isfinite(value)) { // JSON has no such number; edits and files cannot bring one in
            m_out += "null";
            return;
        }
        std::array<char, 40> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
        m_out += text;
        if (text.find_first_of(".e") == std::string_view::npos) {
            m_out += ".0"; // a real number stays one when read back
        }
    }

    void write(const std::string& value, JsonLayout, int) { quote(value); }

    void write(const JsonArray& array, JsonLayout layout, int depth)
    {
        list('[', ']', array, layout, depth, [&](const JsonValue& item) { print(item, layout, depth + 1); });
    }

    void write(const JsonObject& object, JsonLayout layout, int depth)
    {
        list('{', '}', object, layout, depth, [&](const JsonMember& member) {
            quote(member.key);
            m_out += ": ";
            print(member.value, layout, depth + 1);
        });
    }

    template <class Items, class PrintItem>
    void list(char open, char close, const Items& items, JsonLayout layout, int depth, const PrintItem& printItem)
    {
        m_out += open;
        const bool lines = layout == JsonLayout::Lines && !items.empty();
        const char* separator = "";
        for (const auto& item : items) {
            m_out += separator;
            separator = lines ? "," : ", ";
            if (lines) {
                breakLine(depth + 1);
            }
            printItem(item);
        }
        if (lines) {
            breakLine(depth);
        }
        m_out += close;
    }

    void breakLine(int depth)
    {
        m_out += '\n';
        m_out.append(static_cast<std::size_t>(depth) * 2, ' ');
    }

    void quote(std::string_view text)
    {
        m_out += '"';
        for (const char c : asUtf8(text)) {
            escape(c);
        }
        m_out += '"';
    }

    void escape(char c)
    {
        constexpr std::string_view kHex = "0123456789abcdef";
        switch (c) {
        case '"':
            m_out += "\\\"";
            return;
        case '\\':
            m_out += "\\\\";
            return;
        case '\n':
            m_out += "\\n";
            return;
        case '\r':
            m_out += "\\r";
            return;
        case '\t':
            m_out += "\\t";
            return;
        default:
            break;
        }
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20) {
            m_out += "\\u00";
            m_out += kHex[code >> 4];
            m_out += kHex[code & 15];
        } else {
            m_out += c;
        }
    }

    std::string m_out;
};

} // namespace

JsonValue* findMember(JsonValue& object, std::string_view key)
{
    return const_cast<JsonValue*>(findMember(std::as_const(object), key));
}

const JsonValue* findMember(const JsonValue& object, std::string_view key)
{
    const auto* members = std::get_if<JsonObject>(&object.data);
    if (members == nullptr) {
        return nullptr;
    }
    const auto found =
        std::find_if(members->begin(), members->end(), [&](const JsonMember& m) { return m.key == key; });
    return found == members->end() ? nullptr : &found->value;
}

JsonValue takeMember(JsonValue& object, std::string_view key)
{
    JsonValue taken;
    if (auto* members = std::get_if<JsonObject>(&object.data)) {
        const auto found =
            std::find_if(members->begin(), members->end(), [&](const JsonMember& m) { return m.key == key; });
        if (found != members->end()) {
            taken = std::move(found->value);
            members->erase(found);
        }
    }
    return taken;
}

std::string nameOfValue(const JsonValue& value)
{
    constexpr std::size_t kShown = 40;
    if (std::holds_alternative<JsonArray>(value.data)) {
        return "a list";
    }
    if (std::holds_alternative<JsonObject>(value.data)) {
        return "an object";
    }
    const auto* text = std::get_if<std::string>(&value.data);
    const bool cut = text != nullptr && text->size() > kShown;
    std::string printed = printJson(cut ? JsonValue{text->substr(0, kShown)} : value);
    printed.pop_back(); // the line's end
    return (text == nullptr ? "" : "the text ") + printed + (cut ? "…" : "");
}

std::string printJson(const JsonValue& value)
{
    Printer printer;
    printer.print(value, JsonLayout::Lines, 0);
    return std::move(printer).take() + "\n";
}

std::string lineOf(JsonValue value)
{
    value.layout = JsonLayout::Inline; // of what is in it too
    std::string line = printJson(value);
    line.pop_back();
    return line;
}

bool isUtf8(std::string_view text)
{
    return asUtf8(text) == text;
}

std::string asUtf8(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

} // namespace residua::projects
