// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/model/graph.h"
#include "projects/schema/describe_project.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to projects: converts any described value to a tree. The inverse of json_read.h. With InFiles::IfSet, the
/// tree lacks all fields that have their defaults.

inline JsonValue toTree(bool value)
{
    return {value};
}
inline JsonValue toTree(std::int64_t value)
{
    return {value};
}
inline JsonValue toTree(double value)
{
    return {value};
}
inline JsonValue toTree(const std::string& value)
{
    return {value};
}
inline JsonValue toTree(NodeId value)
{
    return {static_cast<std::int64_t>(value)};
}
inline JsonValue toTree(const Shortcut& value)
{
    return {textOf(value)};
}
/// "pruned", or with a value {"frozen": 0.25} or {"frozen": "learned"}.
inline JsonValue toTree(const ShortcutState& value)
{
    const std::string kind(nameOf(value.kind));
    switch (value.hold) {
    case ShortcutState::Hold::Beginning:
        break;
    case ShortcutState::Hold::Number:
        return {JsonObject{{kind, {value.number}}}, JsonLayout::Inline};
    case ShortcutState::Hold::Learned:
        return {JsonObject{{kind, {std::string(nameOf(ShortcutState::Learned))}}}, JsonLayout::Inline};
    }
    return {kind};
}
inline JsonValue toTree(const Wire& value)
{
    return {textOf(value)};
}
inline JsonValue toTree(const Position& value)
{
    return {JsonArray{{value.x}, {value.y}}, JsonLayout::Inline};
}
inline JsonValue toTree(const ParamValue& value)
{
    return std::visit([](const auto& v) { return JsonValue{v}; }, value);
}
inline JsonValue toTree(const FieldValue& value)
{
    auto tree = parseJson(value.json);
    return tree ? *std::move(tree) : JsonValue{value.json};
}
template <Named E>
JsonValue toTree(E value)
{
    return {std::string(nameOf(value))};
}
template <class T>
JsonValue toTree(const T& value, [[maybe_unused]] InFiles defaults) // has no fields
{
    return toTree(value);
}
template <Described T>
JsonValue toTree(const T& value, InFiles defaults = InFiles::Always);
template <Alternating V>
JsonValue toTree(const V& value, InFiles defaults = InFiles::Always);
template <class T>
JsonValue toTree(const std::vector<T>& list, InFiles defaults = InFiles::Always);
template <class K, class T>
JsonValue toTree(const std::map<K, T>& map, InFiles defaults = InFiles::Always);

template <class T>
void appendFields(JsonObject& object, const T& value, InFiles defaults = InFiles::Always)
{
    static_assert(describesAll<T>(), "a member has no line in its describe_*.h");
    Fields<T>::visit([&](const Field& field, auto member) {
        const auto& held = std::invoke(member, value);
        const bool isAlways = field.more.inFiles == InFiles::Always && defaults == InFiles::Always;
        if (isAlways || !(held == std::invoke(member, T{}))) {
            object.push_back({std::string(field.key), toTree(held, defaults)});
        }
    });
}

template <Described T>
JsonValue toTree(const T& value, InFiles defaults)
{
    JsonObject object;
    appendFields(object, value, defaults);
    return {std::move(object), kInline<T> ? JsonLayout::Inline : JsonLayout::Lines};
}

template <Alternating V>
JsonValue toTree(const V& value, InFiles defaults)
{
    JsonObject object{{std::string(kKindKey), {std::string(nameOf(value))}}};
    return std::visit(
        [&]<class T>(const T& alternative) -> JsonValue {
            appendFields(object, alternative, defaults);
            return {std::move(object), kInline<T> ? JsonLayout::Inline : JsonLayout::Lines};
        },
        value);
}

template <class T>
JsonValue toTree(const std::vector<T>& list, InFiles defaults)
{
    JsonArray array;
    array.reserve(list.size());
    for (const T& item : list) {
        array.push_back(toTree(item, defaults));
    }
    return {std::move(array)};
}

inline const std::string& keyText(const std::string& key)
{
    return key;
}
inline std::string keyText(const GraphRef& key)
{
    return textOf(key);
}
inline std::string keyText(NodeId key)
{
    return textOf(key);
}
inline std::string keyText(const Shortcut& key)
{
    return textOf(key);
}

template <class K, class T>
JsonValue toTree(const std::map<K, T>& map, InFiles defaults)
{
    JsonObject object;
    for (const auto& [key, value] : map) {
        object.push_back({std::string(keyText(key)), toTree(value, defaults)});
    }
    return {std::move(object)};
}

} // namespace residua::projects
