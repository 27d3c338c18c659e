// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/pass.h"

#include "projects/schedule/kept_parts.h"

#include <numeric>
#include <utility>

namespace residua::engine {

KeptParts keptParts(const PartUse& use, std::int64_t count, std::uint64_t node)
{
    using projects::DropSampling;
    std::vector<std::size_t> order(static_cast<std::size_t>(count)); // the parts that are kept come first
    std::iota(order.begin(), order.end(), std::size_t{0});
    auto number = static_cast<std::size_t>(projects::keptCount(use.keep, count));
    if (use.sampling != DropSampling::First) {
        const Philox random(use.key ^ splitMix(node));
        order = inDrawnOrder(std::move(order), random);
        if (use.sampling != DropSampling::FixedSize) {
            const auto isKept = [&](std::size_t part) { return random.uniform(part) < use.keep; };
            number = static_cast<std::size_t>(std::ranges::count_if(order, isKept));
        }
    }
    KeptParts kept;
    order.resize(std::clamp<std::size_t>(number, 1, order.size()));
    kept.parts = std::move(order);
    std::ranges::sort(kept.parts);
    if (use.sampling == DropSampling::First && use.opening != 1) {
        const auto before = static_cast<std::size_t>(projects::keptCount(use.before, count));
        for (const std::size_t part : kept.parts) {
            kept.factors.push_back(part < before ? 1 : use.opening);
        }
    }
    return kept;
}

RandomStreams::RandomStreams(std::int64_t seed, std::int64_t step)
    : m_key(splitMix(splitMix(static_cast<std::uint64_t>(seed)) + static_cast<std::uint64_t>(step)))
{
}

} // namespace residua::engine
