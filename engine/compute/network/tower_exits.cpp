// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/tower_exits.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include <cstddef>
#include <cstdint>

namespace residua::engine {
namespace {

constexpr const char* kVisits = "visits";

/// Returns the name by which the loss after one visit is recorded.
std::string atVisit(const projects::Loss& loss, std::int64_t visit)
{
    return loss.name + "@" + std::to_string(visit);
}

/// Returns the name of ln p among the inputs of a pass. No port can have it.
std::string sharesOf(const projects::Network& network)
{
    return network.name + " exits";
}

/// Returns the name of the output after all visits, which tokens that leave early do not have.
std::string lastOf(const projects::Network& network)
{
    return network.name + " last";
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

/// Returns CompiledTower::logExitShares() of a pass that has the values.
at::Tensor logExitShares(const CompiledTower& tower, const Pass& pass)
{
    return pass.inputs.at(sharesOf(tower.network()));
}

/// Returns the outputs of all visits of the loop with an exit gate; `last` is the tower's output.
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

/// Returns the index, from 0, of the visit at which each token leaves, [...].
at::Tensor exitVisits(const CompiledTower& tower, const Pass& pass)
{
    const at::Tensor shares = logExitShares(tower, pass).exp();
    return shares.narrow(-1, 0, shares.size(-1) - 1).cumsum(-1).lt(pass.exitAt).sum(-1);
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

void keepLastOutput(const CompiledTower& tower, const at::Tensor& output, Pass& pass)
{
    if (projects::gatedLoop(tower.network().stack())) {
        pass.inputs.insert_or_assign(lastOf(tower.network()), output);
    }
}

bool exitsEarly(const CompiledTower& tower, const Pass& pass)
{
    return pass.exitAt > 0 && !pass.training() && projects::gatedLoop(tower.network().stack());
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

ExitLosses exitLossesOf(const CompiledTower& tower, const at::Tensor& target, const Pass& pass)
{
    const at::Tensor& last = pass.inputs.at(lastOf(tower.network()));
    return exitLosses(outputsOfVisits(tower, last, pass), logExitShares(tower, pass), target);
}

std::vector<BatchMean> exitMeans(const CompiledTower& tower, const projects::Loss& loss, const at::Tensor& target,
                                 const Pass& pass, bool countsVisits)
{
    const ExitLosses exits = exitLossesOf(tower, target, pass);
    const std::int64_t visits = exits.losses.size(-1);
    std::vector<BatchMean> means{{loss.name, exits.expected(loss.entropy)}};
    for (std::int64_t visit = 1; visit <= visits; ++visit) {
        means.push_back({atVisit(loss, visit), exits.meanOf(exits.losses.select(-1, visit - 1))});
    }
    if (countsVisits) {
        const at::Tensor numbers = at::arange(1, visits + 1, exits.losses.options());
        const at::Tensor made = exitsEarly(tower, pass)
                                    ? exitVisits(tower, pass).reshape({-1}).to(exits.losses.scalar_type()) + 1
                                    : (exits.logShares.exp() * numbers).sum(-1);
        means.push_back({kVisits, exits.meanOf(made)});
    }
    return means;
}

std::set<std::string> exitMeanNames(const CompiledTower& tower, const projects::Loss& loss)
{
    const projects::Stack& stack = tower.network().stack();
    std::set<std::string> names{kVisits};
    for (std::int64_t visit = 1; visit <= stack.loops[projects::gatedLoop(stack).value()].visits; ++visit) {
        names.insert(atVisit(loss, visit));
    }
    return names;
}

} // namespace residua::engine
