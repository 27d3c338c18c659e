// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/field.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <variant>

namespace residua::projects {

/// The description of a struct for all code that walks a document by its types: the reader and writer of files, the
/// diff, the range checks, the fingerprint of data, and the random documents of the tests. fields.h gives the same to
/// other code as values. The descriptions are in describe_data.h, _pictures.h, _network.h, _topology.h, _training.h,
/// _optimiser.h, _project.h and _sweep.h. A new field needs one line there and is then known to all of this code.

/// `static constexpr void visit(auto&& visitor)` calls `visitor(Field, &T::member)` for each field in the file's order.
/// A function in place of the pointer returns a field of a nested struct, which has no object of its own in the file.
template <class T>
struct Fields;

/// `static constexpr Choice all[]`, or a computed array. For an enumeration it has one choice per enumerator from 0 on;
/// for a variant of described structs, one per alternative. In the file, an alternative is an object whose first key,
/// "kind", has its name.
template <class T>
struct Choices;
inline constexpr std::string_view kKindKey = "kind";

/// True if values of T are written on one line, as a unit for people.
template <class T>
inline constexpr bool kInline = false;

/// True if T is a part of the document with edits of its own (edit.h), because other parts refer to its names and
/// places.
template <class T>
inline constexpr bool kHasOwnEdits = false;

/// The maximum number of entries of a list of T. The file's reader and the edits enforce it, so that code that works on
/// a document, including its views, may take time quadratic in a list.
template <class T>
inline constexpr std::size_t kMostOf = SIZE_MAX;

/// Converts to any type. Used to count the members of an aggregate.
struct Anything {
    template <class T>
    operator T() const; // never defined: used only in unevaluated expressions
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

/// The number of members of T whose fields are described with other structs.
template <class T>
inline constexpr std::size_t kDescribedElsewhere = 0;

/// True if each member of T has a line. A field without a line would be lost in files.
template <class T>
[[nodiscard]] consteval bool describesAll()
{
    std::size_t described = kDescribedElsewhere<T>;
    Fields<T>::visit([&](const Field&, auto member) { described += std::is_member_pointer_v<decltype(member)>; });
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

/// The names of Choices<T> in their order.
template <class T>
inline constexpr auto kNamesOf = [] {
    std::array<std::string_view, std::size(Choices<T>::all)> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = Choices<T>::all[i].name;
    }
    return names;
}();

/// Returns the number of enumerators, from 0 on, whose traitsOf() has a key.
template <class E>
[[nodiscard]] consteval std::size_t enumeratorsWithTraits()
{
    std::size_t count = 0;
    while (!traitsOf(static_cast<E>(count)).key.empty()) {
        ++count;
    }
    return count;
}
/// Returns the choices of an enumeration whose traitsOf() has the key and the title of each enumerator.
template <class E, std::size_t count = enumeratorsWithTraits<E>()>
[[nodiscard]] consteval std::array<Choice, count> choicesByTraits()
{
    std::array<Choice, count> choices;
    for (std::size_t i = 0; i < count; ++i) {
        choices[i] = {traitsOf(static_cast<E>(i)).key, traitsOf(static_cast<E>(i)).title};
    }
    return choices;
}

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
