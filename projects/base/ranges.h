// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

/// A container made from a range, and the sum of a range.
namespace residua {

/// Returns the results of `of` for the items in a container, in the items' order: mapped<QStringList>(names,
/// &Name::text). Without a container, the result is a vector. A JSON container becomes an array, also without items.
template <class Container = void, class Items, class Of = std::identity>
[[nodiscard]] auto mapped(Items&& items, Of of = {})
{
    if constexpr (std::is_void_v<Container>) {
        using Result = std::remove_cvref_t<std::invoke_result_t<Of&, decltype(*std::begin(items))>>;
        return mapped<std::vector<Result>>(std::forward<Items>(items), std::move(of));
    } else {
        Container results;
        if constexpr (requires { Container::array(); }) {
            results = Container::array();
        }
        for (auto&& item : items) {
            if constexpr (requires { results.emplace_back(std::invoke(of, std::forward<decltype(item)>(item))); }) {
                results.emplace_back(std::invoke(of, std::forward<decltype(item)>(item)));
            } else {
                results.insert(results.end(), std::invoke(of, std::forward<decltype(item)>(item)));
            }
        }
        return results;
    }
}

/// Returns the sum of the results of `of` for the items, added in the items' order.
template <class Items, class Of = std::identity>
[[nodiscard]] auto sumOf(Items&& items, Of of = {})
{
    std::remove_cvref_t<std::invoke_result_t<Of&, decltype(*std::begin(items))>> sum{};
    for (auto&& item : items) {
        sum += std::invoke(of, item);
    }
    return sum;
}

} // namespace residua
