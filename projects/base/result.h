// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace residua {

/// What went wrong because of input: a place a person can find, and a message
/// that says what failed, what was got and what was expected.
struct Error {
    std::string place;
    std::string message;

    /// "[place] message", or the message alone where no place is known.
    [[nodiscard]] std::string text() const { return place.empty() ? message : "[" + place + "] " + message; }
    bool operator==(const Error&) const = default;
};

/// A value, or the error that stands in its place. Never both, never neither.
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

    /// What `next`, a function of the value that gives a Result, makes of it; the error where there is no value.
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
    /// The same for a function that cannot fail.
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

/// The value of an operation that has no other.
struct Done {
    bool operator==(const Done&) const = default;
};

using Status = Result<Done>;

} // namespace residua
