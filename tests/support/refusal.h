// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"

#include <string>
#include <string_view>

namespace residua::tests {

/// True if an error names a place that ends with `place`, and its message has `sign`: a number or a word that tells it
/// from other errors there, because the wording may change.
[[nodiscard]] inline bool isRefusedAt(const Error& error, std::string_view place, std::string_view sign)
{
    return error.place.ends_with(place) && error.message.find(sign) != std::string::npos;
}
/// True if a result is such an error.
template <class Value>
[[nodiscard]] bool isRefusedAt(const Result<Value>& result, std::string_view place, std::string_view sign)
{
    return !result && isRefusedAt(result.error(), place, sign);
}

/// Returns the error's text, or "no error" if there is a value.
template <class Value>
[[nodiscard]] std::string errorOf(const Result<Value>& result)
{
    return result ? "no error" : result.error().text();
}

} // namespace residua::tests
