// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/tower_exits.h"

#include "projects/depth/depth_names.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>

#include <cstddef>
#include <cstdint>

namespace residua::engine {
namespace {

/// Returns the name of ln p among the inputs of a pass. No port can have it.
std::string sharesOf(const projects::Network& network)
{
    return network.name + " exits";
}

/// Returns the name of the tower's states, or of its output, after an executed layer.
std::string statesAt(const projects::Network& network, std::int64_t layer)
{
    return projects::exitOf(projects::statesOf(network), network.stack(), layer);
}
std::string outputAt(const projects::Network& network, std::int64_t layer)
{
    return projects::exitOf(projects::outputOf(network), network.stack(), layer);
}

} // namespace

std::map<std::string, at::Tensor> exitValues(CompiledTower& tower, const std::vector<at::Tensor>& exits,
                                             const Pass& pass)
{
    const projects::Network& network = tower.network();
    std::map<std::string, at::Tensor> values;
    for (std::size_t i = 0; i < exits.size(); ++i) {
        const projects::UsedExit& exit = tower.exits()[i];
        values.emplace(statesAt(network, exit.layer), exits[i]);
        if (exit.givesOutput) {
            values.emplace(outputAt(network, exit.layer), tower.outputs({exits[i], {}}, pass).front());
        }
    }
    if (const at::Tensor shares = tower.logExitShares(exits); shares.defined()) {
        values.emplace(sharesOf(network), shares);
    }
    return values;
}

at::Tensor logExitShares(const CompiledTower& tower, const Pass& pass)
{
    return pass.inputs.at(sharesOf(tower.network()));
}

bool exitsEarly(const CompiledTower& tower, const Pass& pass)
{
    return pass.exitAt > 0 && !pass.training() && projects::gatedLoop(tower.network().stack());
}

std::vector<at::Tensor> outputsOfVisits(const CompiledTower& tower, const at::Tensor& last, const Pass& pass)
{
    const projects::Network& network = tower.network();
    const projects::Loop& loop = network.stack().loops[projects::gatedLoop(network.stack()).value()];
    std::vector<at::Tensor> outputs;
    for (std::int64_t visit = 1; visit < loop.visits; ++visit) {
        outputs.push_back(pass.inputs.at(outputAt(network, network.stack().numberOf({loop.last, visit}))));
    }
    outputs.push_back(last);
    return outputs;
}

at::Tensor exitVisits(const CompiledTower& tower, const Pass& pass)
{
    const at::Tensor shares = logExitShares(tower, pass).exp();
    return shares.narrow(-1, 0, shares.size(-1) - 1).cumsum(-1).lt(pass.exitAt).sum(-1);
}

at::Tensor outputAtExit(const CompiledTower& tower, const at::Tensor& last, const Pass& pass)
{
    const at::Tensor visits = exitVisits(tower, pass).unsqueeze(-1);
    const std::vector<at::Tensor> outputs = outputsOfVisits(tower, last, pass);
    at::Tensor chosen = last;
    for (std::size_t visit = 0; visit + 1 < outputs.size(); ++visit) {
        chosen = at::where(visits == static_cast<std::int64_t>(visit), outputs[visit], chosen);
    }
    return chosen;
}

} // namespace residua::engine
