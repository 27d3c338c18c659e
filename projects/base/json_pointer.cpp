// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/json_tree.h"

#include "projects/base/text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

std::string unescaped(std::string_view token)
{
    std::string key;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const bool escape = token[i] == '~' && i + 1 < token.size();
        key += !escape ? token[i] : token[++i] == '1' ? '/' : '~';
    }
    return key;
}

/// Suggests the nearest key of the object.
std::string hintFor(const JsonValue& value, std::string_view key)
{
    std::vector<std::string_view> known;
    if (const auto* object = std::get_if<JsonObject>(&value.data)) {
        for (const JsonMember& member : *object) {
            known.push_back(member.key);
        }
    }
    return meantHint(key, known);
}

/// `place` is the pointer of the child, for errors.
Result<JsonValue*> childOf(JsonValue& value, std::string_view key, std::string_view place)
{
    if (JsonValue* member = findMember(value, key)) {
        return member;
    }
    auto* array = std::get_if<JsonArray>(&value.data);
    if (array == nullptr) {
        return Error{std::string(place), "there is no such field" + hintFor(value, key)};
    }
    const std::optional<std::size_t> index = numberFrom<std::size_t>(key);
    if (!index || *index >= array->size()) {
        return Error{std::string(place),
                     "there is no such entry; expected an index below " + std::to_string(array->size())};
    }
    return &(*array)[*index];
}

} // namespace

std::string pointerToken(std::string_view key)
{
    std::string token;
    for (const char c : key) {
        token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return token;
}

std::vector<std::string> tokensOf(std::string_view pointer)
{
    std::vector<std::string> tokens;
    for (std::size_t begin = 1; begin <= pointer.size();) {
        const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
        tokens.push_back(unescaped(pointer.substr(begin, end - begin)));
        begin = end + 1;
    }
    return tokens;
}

Result<JsonValue*> valueAt(JsonValue& tree, std::string_view pointer)
{
    JsonValue* at = &tree;
    for (std::size_t begin = 1; begin <= pointer.size();) {
        const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
        at = RESIDUA_TRY(childOf(*at, unescaped(pointer.substr(begin, end - begin)), pointer.substr(0, end)));
        begin = end + 1;
    }
    return at;
}

Status setValueAt(JsonValue& tree, std::string_view pointer, JsonValue fresh)
{
    const std::size_t last = pointer.rfind('/');
    if (last != std::string_view::npos) {
        const std::string_view above = pointer.substr(0, last);
        const std::string key = unescaped(pointer.substr(last + 1));
        const Result<JsonValue*> owner = valueAt(tree, above);
        if (!owner && numberFrom<std::size_t>(key)) { // a list that is absent has no entries
            return owner.error();
        }
        if (!owner) { // an object that is absent has its defaults
            return setValueAt(tree, above, {JsonObject{{key, std::move(fresh)}}});
        }
        if (auto* object = std::get_if<JsonObject>(&(*owner)->data); object && findMember(**owner, key) == nullptr) {
            object->push_back({key, std::move(fresh)});
            return Done{};
        }
    }
    JsonValue* const value = RESIDUA_TRY(valueAt(tree, pointer));
    *value = std::move(fresh);
    return Done{};
}

} // namespace residua::projects
