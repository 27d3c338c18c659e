// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace residua {

/// Returns the results of `make`, a function or a pointer to a member, for the items in their order. They are of type
/// Value, or else of the type that `make` returns.
template <class Value = void, class Items, class Make>
[[nodiscard]] auto mapped(Items&& items, Make make)
{
    using Made = std::remove_cvref_t<std::invoke_result_t<Make&, decltype(*std::begin(items))>>;
    std::vector<std::conditional_t<std::is_void_v<Value>, Made, Value>> results;
    for (auto&& item : items) {
        results.emplace_back(std::invoke(make, std::forward<decltype(item)>(item)));
    }
    return results;
}

} // namespace residua
