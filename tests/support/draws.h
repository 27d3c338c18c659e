// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

/// Random values for tests, from an engine of the standard library. They are the same on every platform, which its
/// distributions are not.
namespace residua::tests {

/// A number in 0..count − 1.
template <class Engine>
[[nodiscard]] std::size_t below(Engine& random, std::size_t count)
{
    return static_cast<std::size_t>(random() % count);
}

template <class Engine, class Items>
[[nodiscard]] auto& oneOf(Engine& random, Items& items)
{
    return items[below(random, std::size(items))];
}

/// Uniform on [−1, 1).
[[nodiscard]] inline double symmetric(std::mt19937_64& random)
{
    return static_cast<double>(random() >> 11U) * 0x1p-52 - 1;
}

} // namespace residua::tests
