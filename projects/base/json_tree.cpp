// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/json_tree.h"

#include "projects/base/text.h"
#include "projects/base/utf8.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {

namespace {

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
        if (!std::isfinite(value)) { // JSON has no such number; neither edits nor files can produce one
            m_out += "null";
            return;
        }
        const std::string text = numberText(value);
        m_out += text;
        if (text.find_first_of(".e") == std::string::npos) {
            m_out += ".0"; // keeps a real number a real number when it is read back
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
    printed.pop_back(); // the newline at the end
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
    value.layout = JsonLayout::Inline; // applies to nested values too
    std::string line = printJson(value);
    line.pop_back();
    return line;
}

} // namespace residua::projects
