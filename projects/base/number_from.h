// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace residua {

/// The whole of `text` as a number, with a full stop whatever the language of the system. Nothing for any other text
/// and for a number that the type does not hold; a type without a sign takes digits alone.
template <class Number>
[[nodiscard]] std::optional<Number> numberFrom(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

} // namespace residua
