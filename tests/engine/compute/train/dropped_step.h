// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/compute/network/network_harness.h"

#include "engine/compute/depth/layer_dropping.h"
#include "projects/model/training_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace residua::tests {

/// A training step that leaves out layers, and what the papers' equations multiply each branch by.
struct DroppedStep {
    engine::Pass pass;           ///< leaves it to the network what it runs
    std::vector<double> factors; ///< of each layer; 0: it is absent
};

/// √(j̄ − j), or j̄ − j, with j̄ the next kept layer, L + 1 past the end (RaPTr, appendix J); or 1/p (PLD).
inline double factorOf(const std::vector<engine::LayerUse>& layers, std::size_t layer, projects::DropScaling scaling,
                       double keep)
{
    if (!layers[layer].runs) {
        return 0;
    }
    if (scaling == projects::DropScaling::InverseProbability) {
        return layer == 0 ? 1 : 1 / keep;
    }
    std::size_t next = layer + 1;
    while (next < layers.size() && !layers[next].runs) {
        ++next;
    }
    const auto gap = static_cast<double>(next - layer);
    return scaling == projects::DropScaling::Linear ? gap : std::sqrt(gap);
}

/// Gives the project a schedule that keeps its first layer and of the others each with 1/2, and finds the first step
/// that leaves out `absent` of them. Which layers run is the draw's; the factors are written out from that alone.
inline DroppedStep droppedStep(projects::Project& project, projects::DropScaling scaling, std::int64_t absent)
{
    const auto depth = static_cast<double>(project.network.depth());
    project.stack().schedule = {.stages = {{0, 1 + (depth - 1) / 2, {1}}}, .scaling = scaling};
    project.training.steps = 1000;
    for (std::int64_t step = 1; step <= project.training.steps; ++step) {
        engine::Pass pass = passIn(engine::Mode::Training);
        pass.step = step;
        pass.random = engine::RandomStreams(project.seeds.stages, step);
        const std::vector<engine::LayerUse> layers = engine::LayerDropping(project).draw(pass);
        if (std::ranges::count(layers, false, &engine::LayerUse::runs) == absent) {
            DroppedStep found{pass, {}};
            for (std::size_t layer = 0; layer < layers.size(); ++layer) {
                found.factors.push_back(factorOf(layers, layer, scaling, 0.5));
            }
            return found;
        }
    }
    throw std::runtime_error("no step leaves out as many layers");
}

} // namespace residua::tests
