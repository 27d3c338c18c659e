// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/schema/field.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

namespace residua::projects {

/// How a struct is described once for whoever walks a document by its types (the file's reader and writer, the diff,
/// the checks of ranges, the fingerprint of data, and the random documents of the tests; fields.h gives all others the
/// same as values). The descriptions are in describe_data.h, _network.h, _topology.h, _training.h, _project.h and
/// _sweep.h: a new field is a line there, and all of them know it.

/// `static constexpr void visit(auto&& visitor)` calls `visitor(Field, &T::member)` for each field, in the file's
/// order.
template <class T>
struct Fields;

/// `static constexpr Choice all[]`, or an array that is worked out: of an enumeration one per enumerator from 0 on, of
/// a variant of described structs one per alternative. In the file an alternative is an object whose first key, "kind",
/// holds its name.
template <class T>
struct Choices;
inline constexpr std::string_view kKindKey = "kind";

/// Whether values of T are written on one line, as one thing to people.
template <class T>
inline constexpr bool kInline = false;

/// Whether T is a part of the document with edits of its own (edit.h), because names and places elsewhere depend on it.
template <class T>
inline constexpr bool kHasOwnEdits = false;

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
    Fields<T>::visit([&](const Field&, auto) { ++described; });
    return described == memberCount<T>();
}

struct AnyVisitor {
    template <class M>
    void operator()(const Field&, M) const
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
    Choices<E>::all[0];
};
template <class V>
concept Alternating = !std::is_enum_v<V> && requires
{
    Choices<V>::all[0];
};

/// The names of Choices<T>, in their order.
template <class T>
inline constexpr auto kNamesOf = [] {
    std::array<std::string_view, std::size(Choices<T>::all)> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = Choices<T>::all[i].name;
    }
    return names;
}();

template <Named E>
[[nodiscard]] constexpr Choice choiceOf(E value)
{
    const auto at = static_cast<std::size_t>(value);
    return at < std::size(Choices<E>::all) ? Choices<E>::all[at] : Choice{"?", "?"};
}

template <Alternating V>
[[nodiscard]] constexpr Choice choiceOf(const V& value)
{
    static_assert(std::size(Choices<V>::all) == std::variant_size_v<V>);
    return Choices<V>::all[value.index()];
}

template <class T>
[[nodiscard]] constexpr std::string_view nameOf(const T& value)
{
    return choiceOf(value).name;
}

} // namespace residua::projects
