// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua {

/// An error caused by input: a place that a person can find, and a message that says what failed, the value got and the
/// values expected.
struct Error {
    std::string place;
    std::string message;

    /// Formats the error as "[place] message", or the message alone if the place is empty.
    [[nodiscard]] std::string text() const { return place.empty() ? message : "[" + place + "] " + message; }
    bool operator==(const Error&) const = default;
};

/// A value or an error.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    /// Precondition: ok().
    [[nodiscard]] T& value() & { return std::get<0>(m_state); }
    [[nodiscard]] const T& value() const& { return std::get<0>(m_state); }
    [[nodiscard]] T&& value() && { return std::get<0>(std::move(m_state)); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }

    /// Precondition: !ok().
    [[nodiscard]] const Error& error() const { return std::get<1>(m_state); }

    /// Calls `next` with the value and returns the Result that it gives; returns the error if there is no value.
    template <class Next>
    [[nodiscard]] auto and_then(Next&& next) && -> std::invoke_result_t<Next, T&&>
    {
        return ok() ? std::forward<Next>(next)(std::move(*this).value()) : std::move(*this).takeError();
    }
    template <class Next>
    [[nodiscard]] auto and_then(Next&& next) const& -> std::invoke_result_t<Next, const T&>
    {
        return ok() ? std::forward<Next>(next)(value()) : error();
    }
    /// Calls `change`, which cannot fail, with the value; returns the error if there is no value.
    template <class Change>
    [[nodiscard]] auto transform(Change&& change) && -> Result<std::invoke_result_t<Change, T&&>>
    {
        using Changed = Result<std::invoke_result_t<Change, T&&>>;
        return ok() ? Changed(std::forward<Change>(change)(std::move(*this).value())) : std::move(*this).takeError();
    }
    template <class Change>
    [[nodiscard]] auto transform(Change&& change) const& -> Result<std::invoke_result_t<Change, const T&>>
    {
        using Changed = Result<std::invoke_result_t<Change, const T&>>;
        return ok() ? Changed(std::forward<Change>(change)(value())) : error();
    }

private:
    [[nodiscard]] Error&& takeError() && { return std::get<1>(std::move(m_state)); }

    std::variant<T, Error> m_state;
};

/// The value of an operation that returns no data.
struct Done {
    bool operator==(const Done&) const = default;
};

using Status = Result<Done>;

/// Evaluates a Result to its value. If it has none, returns its error from the function, which returns a Result too:
///
///     const Project project = RESIDUA_TRY(load(path));
///     RESIDUA_TRY(check(project));
///
/// Used only as a whole statement, as an initialiser or as what is assigned, so that no other part of an expression is
/// left half evaluated. It is a statement expression, an extension of GCC and Clang.
#define RESIDUA_TRY(...)                                                                                               \
    __extension__({                                                                                                    \
        auto&& residuaTried = (__VA_ARGS__);                                                                           \
        if (!residuaTried) {                                                                                           \
            return residuaTried.error();                                                                               \
        }                                                                                                              \
        *std::forward<decltype(residuaTried)>(residuaTried);                                                           \
    })

/// Combines functions into one overload set, for std::visit.
template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};

} // namespace residua
