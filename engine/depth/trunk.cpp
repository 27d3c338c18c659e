// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/depth/trunk.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>

namespace residua::engine {
namespace {

/// One overload per alternative of projects::Wiring.
struct Maker {
    std::vector<GraphProgram>& layers;
    std::int64_t width;
    Parameters& parameters;

    Result<std::unique_ptr<Trunk>> operator()(const projects::DepthMix& mix) const
    {
        return makeDepthTrunk(mix, std::move(layers), width, parameters);
    }
    Result<std::unique_ptr<Trunk>> operator()(const projects::MultiStream& streams) const
    {
        return makeStreamTrunk(streams, std::move(layers), width, parameters);
    }
    Result<std::unique_ptr<Trunk>> operator()(const projects::BranchGate& gate) const
    {
        return makeGateTrunk(gate, std::move(layers), width, parameters);
    }
    Result<std::unique_ptr<Trunk>> operator()(const projects::Concatenation&) const
    {
        return makeConcatTrunk(std::move(layers), width, parameters);
    }
};

} // namespace

Result<std::unique_ptr<Trunk>> Trunk::create(const projects::Wiring& wiring, std::vector<GraphProgram> layers,
                                             std::int64_t width, Parameters& parameters)
{
    return std::visit(Maker{layers, width, parameters}, wiring);
}

Matrix unfolded(const std::vector<std::vector<float>>& weights, std::int64_t step)
{
    const auto rows = static_cast<std::int64_t>(weights.size());
    Matrix matrix{"mix", step, rows, rows,
                  std::vector<float>(weights.size() * weights.size(), std::numeric_limits<float>::quiet_NaN())};
    for (std::size_t row = 0; row < weights.size(); ++row) {
        std::ranges::copy(weights[row], matrix.values.begin() + static_cast<std::ptrdiff_t>(row * weights.size()));
    }
    return matrix;
}

} // namespace residua::engine
