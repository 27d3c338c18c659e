// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/api/gap.h"

#include <algorithm>

namespace residua::engine {

std::optional<double> GapFit::relativeBound() const
{
    return spectralGapBound && fullFunction > 0 ? std::optional(*spectralGapBound / fullFunction) : std::nullopt;
}

std::size_t Gap::done() const
{
    return static_cast<std::size_t>(
        std::ranges::count_if(fits, [](const GapFit& fit) { return fit.state != GapFit::State::Pending; }));
}

} // namespace residua::engine
