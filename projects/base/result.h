// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
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

private:
    std::variant<T, Error> m_state;
};

/// The value of an operation that has no other.
struct Done {
    bool operator==(const Done&) const = default;
};

using Status = Result<Done>;

} // namespace residua
