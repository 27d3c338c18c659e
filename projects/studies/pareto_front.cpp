// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/studies/sweep_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace residua::projects {

std::vector<std::size_t> paretoFront(std::span<const CostAndValue> runs, const Judge& judge)
{
    std::vector<std::size_t> order(runs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t i) { return std::isnan(runs[i].value); });
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return runs[a].cost != runs[b].cost ? runs[a].cost < runs[b].cost : judge.prefers(runs[a].value, runs[b].value);
    });
    std::vector<std::size_t> front;
    double best = std::numeric_limits<double>::infinity() * (judge.better == Judge::Better::Less ? 1 : -1);
    for (const std::size_t i : order) {
        const bool isTwin = !front.empty() && runs[front.back()].cost == runs[i].cost && runs[i].value == best;
        if (judge.prefers(runs[i].value, best) || isTwin) {
            front.push_back(i);
            best = runs[i].value;
        }
    }
    return front;
}

} // namespace residua::projects
