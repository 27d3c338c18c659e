// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/pass.h"

#include "projects/schedule/kept_parts.h"

#include <algorithm>
#include <numeric>

namespace residua::engine {
namespace {

/// The finaliser of splitmix64: neighbouring steps get unrelated keys.
std::uint64_t mixed(std::uint64_t value)
{
    value += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31U);
}

/// A uniform number in [0, 1) of a key's draw for unit `index` of node `node`.
double drawn(std::uint64_t key, std::uint64_t node, std::size_t index)
{
    const auto bits = Philox(key ^ mixed(node)).at(index);
    return uniform(bits[0], bits[1]);
}

} // namespace

KeptUnits keptUnits(const UnitUse& use, std::int64_t count, std::uint64_t node)
{
    using projects::DropSampling;
    const auto all = static_cast<std::size_t>(count);
    std::vector<std::size_t> order(all); // those that stay first come first
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t number = 0;
    if (use.sampling == DropSampling::First) {
        number = static_cast<std::size_t>(projects::keptCount(use.keep, count));
    } else {
        const auto draw = [&](std::size_t unit) { return drawn(use.key, node, unit); };
        std::ranges::stable_sort(order, {}, draw);
        number = use.sampling == DropSampling::FixedSize
                     ? static_cast<std::size_t>(projects::keptCount(use.keep, count))
                     : static_cast<std::size_t>(
                           std::ranges::count_if(order, [&](std::size_t unit) { return draw(unit) < use.keep; }));
    }
    KeptUnits kept;
    kept.units.assign(order.begin(),
                      order.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(number, 1, all)));
    std::ranges::sort(kept.units);
    if (use.sampling == DropSampling::First && use.opening != 1) {
        const auto before = static_cast<std::size_t>(projects::keptCount(use.before, count));
        for (const std::size_t unit : kept.units) {
            kept.factors.push_back(unit < before ? 1 : use.opening);
        }
    }
    return kept;
}

RandomStreams::RandomStreams(std::int64_t seed, std::int64_t step)
    : m_key(mixed(mixed(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(step)))
{
}

} // namespace residua::engine
