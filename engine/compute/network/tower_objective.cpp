// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/network/tower_objective.h"

#include "engine/compute/network/objectives.h"

#include <cstddef>
#include <utility>

namespace residua::engine {
namespace {

std::string accuracyAt(const std::string& port)
{
    return port + "_accuracy";
}

/// Returns the number of targets that the objective is a mean over; undefined if it is every unit.
at::Tensor targetsOf(const ObjectiveEntry& objective, const DeviceBatch& batch, const Pass& pass)
{
    return objective.count == nullptr ? at::Tensor() : objective.count(batch.target, pass);
}

} // namespace

std::vector<BatchMean> objectiveMeans(const CompiledTower& tower, std::vector<at::Tensor> outputs,
                                      const DeviceBatch& batch, const Pass& pass, const std::string& name)
{
    std::vector<BatchMean> terms;
    terms.push_back({name, tower.objective().loss(std::move(outputs.front()), tower.lossInputs(batch), pass),
                     targetsOf(tower.objective(), batch, pass)});
    for (const std::size_t i : tower.labels()) {
        terms.push_back(
            {name, objectiveEntryOf(projects::Objective::Classification)
                       .loss(std::move(outputs[i]),
                             {.target = pass.inputs.at(tower.outputPorts()[i]), .input = batch.input}, pass)});
    }
    return terms;
}

void addObjectiveQuantities(const CompiledTower& tower, const std::vector<at::Tensor>& outputs,
                            const DeviceBatch& batch, const Pass& pass, BatchQuantities& quantities)
{
    const ObjectiveEntry& objective = tower.objective();
    const at::Tensor& output = outputs.front();
    for (const ObjectiveQuantity& quantity : objective.further) {
        if (const at::Tensor mean = quantity.mean(output, batch.target); mean.defined()) {
            quantities.means.push_back({quantity.name, mean, targetsOf(objective, batch, pass)});
        }
    }
    if (objective.confusion != nullptr) {
        quantities.confusion = objective.confusion(output, batch.target);
    }
    for (const std::size_t i : tower.labels()) {
        const std::string& port = tower.outputPorts()[i];
        const ObjectiveEntry& labels = objectiveEntryOf(projects::Objective::Classification);
        quantities.means.push_back({accuracyAt(port), labels.further.front().mean(outputs[i], pass.inputs.at(port))});
    }
}

std::set<std::string> objectiveQuantityNames(const CompiledTower& tower)
{
    std::set<std::string> names;
    for (const ObjectiveQuantity& quantity : tower.objective().further) {
        names.insert(quantity.name);
    }
    for (const std::size_t i : tower.labels()) {
        names.insert(accuracyAt(tower.outputPorts()[i]));
    }
    return names;
}

} // namespace residua::engine
