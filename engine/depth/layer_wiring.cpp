// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/layer_wiring.h"

#include "engine/api/matrix_name.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

/// One overload per alternative of projects::Wiring.
struct Maker {
    LayerStack& layers;
    std::int64_t width;
    InitPlan& plan;

    LayerWiringResult operator()(const projects::DepthMix& mix) const
    {
        return projects::isRunningSum(mix) ? makeSumWiring(mix, std::move(layers), plan)
                                           : makeMixWiring(mix, std::move(layers), width, plan);
    }
    LayerWiringResult operator()(const projects::MultiStream& streams) const
    {
        return makeStreamWiring(streams, std::move(layers), width, plan);
    }
    LayerWiringResult operator()(const projects::BranchGate& gate) const
    {
        return makeGateWiring(gate, std::move(layers), width, plan);
    }
    LayerWiringResult operator()(const projects::Concatenation&) const
    {
        return makeConcatWiring(std::move(layers), width, plan);
    }
};

} // namespace

LayerWiringResult LayerWiring::create(const projects::Wiring& wiring, LayerStack layers, std::int64_t width,
                                      InitPlan& plan)
{
    return std::visit(Maker{layers, width, plan}, wiring);
}

Matrix unfolded(const std::vector<std::vector<float>>& weights, std::int64_t step)
{
    const auto rows = static_cast<std::int64_t>(weights.size());
    Matrix matrix{matrix::kMix, step, rows, rows,
                  std::vector<float>(weights.size() * weights.size(), std::numeric_limits<float>::quiet_NaN())};
    for (std::size_t row = 0; row < weights.size(); ++row) {
        std::ranges::copy(weights[row], matrix.values.begin() + static_cast<std::ptrdiff_t>(row * weights.size()));
    }
    return matrix;
}

} // namespace residua::engine
