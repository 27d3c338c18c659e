// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/json_tree.h"
#include "projects/model/graph.h"
#include "projects/schema/describe_project.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

/// The longest name or text, limited because messages and labels repeat them.
inline constexpr std::size_t kLongestText = 64 * 1024;

/// Private to projects: reads any described value from a tree. Absent fields keep their defaults unless they are
/// required; an unknown key is an error. The result is canonical: wires and shortcuts are sorted, ids and names unique,
/// numbers finite. Its size is limited.
class JsonReader {
public:
    template <class T>
    [[nodiscard]] static Result<T> readAll(const JsonValue& tree)
    {
        JsonReader reader;
        T value{};
        if (!reader.read(tree, value, JsonPlace{})) {
            return *std::move(reader.m_error);
        }
        return value;
    }

private:
    bool fail(const JsonPlace& at, std::string message);
    bool unexpected(const JsonPlace& at, const JsonValue& got, std::string_view expected);
    /// Reports a text that is not one of the names: "…; did you mean "scalar"?"
    bool unknownName(const JsonPlace& at, const JsonValue& got, std::span<const std::string_view> names);

    bool read(const JsonValue& from, bool& to, const JsonPlace& at);
    bool read(const JsonValue& from, std::int64_t& to, const JsonPlace& at);
    bool read(const JsonValue& from, double& to, const JsonPlace& at);
    bool read(const JsonValue& from, std::string& to, const JsonPlace& at);
    bool read(const JsonValue& from, NodeId& to, const JsonPlace& at);
    bool read(const JsonValue& from, Shortcut& to, const JsonPlace& at);
    bool read(const JsonValue& from, ShortcutState& to, const JsonPlace& at);
    bool read(const JsonValue& from, Wire& to, const JsonPlace& at);
    bool read(const JsonValue& from, Position& to, const JsonPlace& at);
    bool read(const JsonValue& from, ParamValue& to, const JsonPlace& at);
    bool read(const JsonValue& from, FieldValue& to, const JsonPlace& at);

    template <Named E>
    bool read(const JsonValue& from, E& to, const JsonPlace& at)
    {
        constexpr auto& names = kNamesOf<E>;
        const std::size_t index = indexOf(from, names);
        to = static_cast<E>(index);
        return index < names.size() || unknownName(at, from, names);
    }

    template <Described T>
    bool read(const JsonValue& from, T& to, const JsonPlace& at)
    {
        return readFields(from, to, at, {}) && finish(to, at);
    }

    template <Alternating V>
    bool read(const JsonValue& from, V& to, const JsonPlace& at)
    {
        constexpr auto& names = kNamesOf<V>;
        if (objectOf(from) == nullptr) {
            return unexpected(at, from, "an object with the key \"kind\"");
        }
        const JsonPlace kindAt{&at, kKindKey};
        const JsonValue* kind = findMember(from, kKindKey);
        if (kind == nullptr) {
            return fail(kindAt, "is missing; expected one of " + listOf(names));
        }
        const std::size_t index = indexOf(*kind, names);
        if (index >= names.size()) {
            return unknownName(kindAt, *kind, names);
        }
        return readAlternative(from, to, at, index, std::make_index_sequence<std::variant_size_v<V>>{});
    }

    template <class T>
    bool read(const JsonValue& from, std::vector<T>& to, const JsonPlace& at)
    {
        const auto* array = std::get_if<JsonArray>(&from.data);
        if (array == nullptr) {
            return unexpected(at, from, "a list");
        }
        if (array->size() > kMostOf<T>) {
            return fail(at, "has " + std::to_string(array->size()) + " entries; expected at most " +
                                std::to_string(kMostOf<T>));
        }
        to.assign(array->size(), T{});
        for (std::size_t i = 0; i < array->size(); ++i) {
            if (!read((*array)[i], to[i], JsonPlace{&at, {}, i})) {
                return false;
            }
        }
        return finish(to, at);
    }

    template <class K, class T>
    bool read(const JsonValue& from, std::map<K, T>& to, const JsonPlace& at)
    {
        const JsonObject* object = objectOf(from);
        if (object == nullptr) {
            return unexpected(at, from, "an object");
        }
        for (const JsonMember& member : *object) {
            const JsonPlace here{&at, member.key};
            K key{};
            T value{};
            if (!readKey(member.key, key, here) || !read(member.value, value, here)) {
                return false;
            }
            to.insert_or_assign(std::move(key), std::move(value));
        }
        return true;
    }

    template <class V, std::size_t... I>
    bool readAlternative(const JsonValue& from, V& to, const JsonPlace& at, std::size_t index,
                         std::index_sequence<I...>)
    {
        bool good = false;
        const auto readOne = [&](auto& alternative) {
            good = readFields(from, alternative, at, kKindKey) && finish(alternative, at);
        };
        ((I == index ? readOne(to.template emplace<I>()) : void()), ...);
        return good;
    }

    template <class T>
    bool readFields(const JsonValue& from, T& to, const JsonPlace& at, std::string_view kindKey)
    {
        const JsonObject* object = objectOf(from);
        if (object == nullptr) {
            return unexpected(at, from, "an object");
        }
        std::vector<std::string_view> known;
        if (!kindKey.empty()) {
            known.push_back(kindKey);
        }
        Fields<T>::visit([&](const Field& field, auto) { known.push_back(field.key); });
        bool good = noStrangers(*object, known, at); // first, because a misspelt key explains a missing one
        Fields<T>::visit([&](const Field& field, auto member) {
            const JsonValue* value = good ? findMember(from, field.key) : nullptr;
            const JsonPlace here{&at, field.key};
            if (value != nullptr) {
                good = read(*value, std::invoke(member, to), here);
            } else if (good && field.more.need == Need::Required) {
                good = fail(here, "is missing");
            }
        });
        return good;
    }

    bool notTooLong(const std::string& text, const JsonPlace& at, std::size_t most = kLongestText);
    bool noStrangers(const JsonObject& object, std::span<const std::string_view> known, const JsonPlace& at);

    bool readKey(const std::string& text, std::string& key, const JsonPlace& at);
    bool readKey(const std::string& text, GraphRef& key, const JsonPlace& at);
    bool readKey(const std::string& text, NodeId& key, const JsonPlace& at);
    bool readKey(const std::string& text, Shortcut& key, const JsonPlace& at);

    /// Called once all fields of a struct are read: checks them together and puts them in canonical order.
    bool finish(Graph& graph, const JsonPlace& at);
    bool finish(Network& network, const JsonPlace& at);
    bool finish(Tower& tower, const JsonPlace& at) { return finish(tower.network, at); }
    bool finish(std::vector<StackSegment>& stack, const JsonPlace& at);
    bool finish(ExplicitSources& sources, const JsonPlace& at);
    bool finish(Layout& layout, const JsonPlace& at);
    bool finish(TowerLayout& layout, const JsonPlace& at);
    template <class T>
    bool finish(T&, const JsonPlace&)
    {
        return true;
    }

    static const JsonObject* objectOf(const JsonValue& value) { return std::get_if<JsonObject>(&value.data); }
    /// Returns the index of the text among the names, or the number of names if it is not one of them.
    static std::size_t indexOf(const JsonValue& value, std::span<const std::string_view> names);
    static std::string listOf(std::span<const std::string_view> names);

    std::optional<Error> m_error;
};

} // namespace residua::projects
