// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace residua {

/// Parses the whole of `text` as a number, with a full stop as the decimal separator in every locale. Returns nullopt
/// for other text and for a number out of the type's range. An unsigned type accepts digits only.
template <class Number>
[[nodiscard]] std::optional<Number> numberFrom(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

} // namespace residua
