// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/maths/lowrank/low_rank_problem.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <system_error>
#include <thread>

namespace residua::engine {

std::string_view nameOf(Nonlinearity follows)
{
    switch (follows) {
    case Nonlinearity::Relu:
        return "relu";
    case Nonlinearity::Silu:
        return "silu";
    case Nonlinearity::Gelu:
        return "gelu";
    case Nonlinearity::Identity:
        break;
    }
    return "identity";
}

Error stoppedFit()
{
    return {"", "the fit was stopped"};
}

void runOnThreads(std::span<const double> works, int threads, const std::function<void(std::size_t index)>& run)
{
    std::vector<std::size_t> order(works.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t index) { return works[index]; });
    std::atomic<std::size_t> next = 0;
    const auto take = [&] {
        for (std::size_t i = next++; i < order.size(); i = next++) {
            run(order[i]);
        }
    };
    std::vector<std::jthread> helpers;
    for (std::size_t helper = 1; helper < std::min(works.size(), std::size_t(std::max(1, threads))); ++helper) {
        try {
            helpers.emplace_back(take);
        } catch (const std::system_error&) {
            break; // the system allows no more: those that there are do all
        }
    }
    take();
}

} // namespace residua::engine
