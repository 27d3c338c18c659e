// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/tokeniser/base/part.h"

#include "projects/base/utf8.h"

namespace residua::engine {
namespace {

const nlohmann::json kNothing;

} // namespace

const nlohmann::json& Part::at(const std::string& key) const
{
    if (!m_value->is_object()) {
        fail(std::string("is a JSON ") + m_value->type_name() + ", expected an object");
        return kNothing;
    }
    const auto found = m_value->find(key);
    return found == m_value->end() ? kNothing : *found;
}

bool Part::has(const std::string& key) const
{
    return !at(key).is_null();
}

Part Part::part(const std::string& key) const
{
    return {at(key), m_place + " · " + key, *m_fault};
}

std::vector<Part> Part::parts(const std::string& key) const
{
    std::vector<Part> parts;
    const nlohmann::json& list = at(key);
    if (!list.is_array()) {
        part(key).fail(std::string("is a JSON ") + list.type_name() + ", expected a list");
        return parts;
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        parts.emplace_back(list[i], m_place + " · " + key + "[" + std::to_string(i) + "]", *m_fault);
    }
    return parts;
}

std::string Part::type() const
{
    return text("type", "");
}

bool Part::flag(const std::string& key, bool otherwise) const
{
    const nlohmann::json& value = at(key);
    if (!value.is_null() && !value.is_boolean()) {
        part(key).fail(std::string("is a ") + value.type_name() + ", expected true or false");
    }
    return value.is_boolean() ? value.get<bool>() : otherwise;
}

std::string Part::text(const std::string& key, const std::string& otherwise) const
{
    const nlohmann::json& value = at(key);
    if (!value.is_null() && !value.is_string()) {
        part(key).fail(std::string("is a ") + value.type_name() + ", expected a string");
    }
    return value.is_string() ? value.get<std::string>() : otherwise;
}

std::int64_t Part::number(const std::string& key, std::int64_t otherwise) const
{
    const nlohmann::json& value = at(key);
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() >> 62 == 0);
    if (!value.is_null() && !fits) {
        part(key).fail("is " + value.dump() + ", expected a whole number");
    }
    return fits ? value.get<std::int64_t>() : otherwise;
}

std::string Part::character(const std::string& key, const std::string& otherwise) const
{
    std::string found = text(key, otherwise);
    if (found.empty() || utf8Length(found) != found.size()) {
        part(key).fail("is \"" + found + "\", expected one character");
    }
    return found;
}

Pattern Part::pattern(const std::string& key) const
{
    const Part given = part(key);
    const bool expression = given.has("Regex");
    const std::string text = given.text(expression ? "Regex" : "String", "");
    if (text.empty()) {
        given.fail("names neither a \"String\" nor a \"Regex\" to look for");
        return Pattern::literal(" ");
    }
    if (!expression) {
        return Pattern::literal(text);
    }
    auto compiled = Pattern::regularExpression(text, given.place());
    if (!compiled) {
        if (!failed()) {
            *m_fault = compiled.error();
        }
        return Pattern::literal(" ");
    }
    return *std::move(compiled);
}

void Part::fail(std::string message) const
{
    if (!*m_fault) {
        *m_fault = Error{m_place, std::move(message)};
    }
}

} // namespace residua::engine
