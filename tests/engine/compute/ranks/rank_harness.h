// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/ranks/ranks.h"
#include "tests/support/free_port.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace residua::tests {

/// Joins `count` ranks of this process, and calls `use` in a thread of each; rank 0 has the caller's.
inline void withRanks(int count, const std::function<void(engine::Ranks&)>& use)
{
    engine::RankPosition place{.count = count, .storeHost = "127.0.0.1"};
    place.storePort = static_cast<std::uint16_t>(freePort());
    const auto run = [&](int rank) {
        engine::RankPosition own = place;
        own.rank = rank;
        own.keepsStore = rank == 0;
        const auto joined = engine::Ranks::join(own);
        if (!joined) {
            throw std::runtime_error(joined.error().text());
        }
        use(**joined);
        (void)(*joined)->share("done"); // rank 0 keeps the store
    };
    std::vector<std::thread> others;
    for (int rank = 1; rank < count; ++rank) {
        others.emplace_back(run, rank);
    }
    run(0);
    for (std::thread& other : others) {
        other.join();
    }
}

} // namespace residua::tests
