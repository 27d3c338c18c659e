// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace residua::projects {

/// Private to projects: how a struct is described once for whoever walks a document (the file's reader and
/// writer, the diff, the random documents of the tests). The descriptions are in describe_data.h, _network.h,
/// _topology.h, _training.h and _project.h: a new field is a line there, and is then read, written, compared and
/// tested.

template <std::size_t N>
using NameList = std::array<std::string_view, N>;

enum class Need { Optional, Required };

/// A field's key in the file. What people read is the same words with spaces.
struct Key {
    std::string_view name;
    std::string_view unit;
    Need need = Need::Optional;

    constexpr Key(const char* keyName, const char* unitName = "", Need isNeeded = Need::Optional)
        : name(keyName), unit(unitName), need(isNeeded)
    {
    }
};

/// `static constexpr void visit(auto&& visitor)` calls `visitor(Key, &T::member)` for each field, in the file's order.
template <class T>
struct Fields;

/// `static constexpr std::array names`, one per enumerator from 0 on.
template <class E>
struct EnumNames;

/// `static constexpr std::array names`, one per alternative of a variant of described structs. In the file
/// an alternative is an object whose first key, "kind", holds its name.
template <class V>
struct Alternatives;
inline constexpr std::string_view kKindKey = "kind";

/// Values that are written on one line, as one thing to people.
template <class T>
inline constexpr bool kInline = false;

/// The most entries that a list of T may have. The file's reader and the edits keep to it, so that whatever works on a
/// document, its views too, may cost the square of a list.
template <class T>
inline constexpr std::size_t kMostOf = SIZE_MAX;

/// Stands for a value of any type, to count the members of an aggregate with.
struct Anything {
    template <class T>
    operator T() const; // never defined: only asked about
};

template <class T, class... Given>
[[nodiscard]] consteval std::size_t memberCount()
{
    if constexpr (requires { T{Given{}..., Anything{}}; }) {
        return memberCount<T, Given..., Anything>();
    } else {
        return sizeof...(Given);
    }
}

/// Whether each member of T has its line: a field that is forgotten would be lost from the file.
template <class T>
[[nodiscard]] consteval bool describesAll()
{
    std::size_t described = 0;
    Fields<T>::visit([&](Key, auto) { ++described; });
    return described == memberCount<T>();
}

struct AnyVisitor {
    template <class M>
    void operator()(Key, M) const
    {
    }
};

template <class T>
concept Described = requires(AnyVisitor visitor)
{
    Fields<T>::visit(visitor);
};
template <class E>
concept Named = std::is_enum_v<E> && requires
{
    EnumNames<E>::names.size();
};
template <class V>
concept Alternating = requires
{
    Alternatives<V>::names.size();
};

template <Named E>
[[nodiscard]] constexpr std::string_view nameOf(E value)
{
    const auto at = static_cast<std::size_t>(value);
    return at < EnumNames<E>::names.size() ? EnumNames<E>::names[at] : std::string_view("?");
}

template <Alternating V>
[[nodiscard]] constexpr std::string_view alternativeOf(const V& value)
{
    static_assert(Alternatives<V>::names.size() == std::variant_size_v<V>);
    return Alternatives<V>::names[value.index()];
}

} // namespace residua::projects
