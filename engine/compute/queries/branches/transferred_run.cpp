// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/branches/transferred_run.h"

#include "engine/base/machine/preparation.h"
#include "engine/compute/train/evaluation.h"
#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/tensor_io.h"

#include <algorithm>

namespace residua::engine {

Status checkStepsLeft(std::optional<std::int64_t> steps, std::int64_t done)
{
    return !steps || *steps > done ? Status(Done{})
                                   : Error{"steps", "got " + std::to_string(*steps) + ", expected more than the " +
                                                        std::to_string(done) + " that are done"};
}

RunBranch branchOf(const std::filesystem::path& parent, const OpenedCheckpoint& opened,
                   const projects::Project& project, RunEventKind kind, const std::string& how)
{
    RunBranch branch;
    branch.parent = parent;
    branch.step = opened.checkpoint.state.step;
    branch.project = projects::viewOf(project, opened.tower);
    branch.event = {branch.step, kind, parent.filename().string() + ": " + how};
    branch.source = {opened.run.projectDirectory, opened.run.data};
    if (opened.run.otherData) {
        branch.events.push_back({branch.step, RunEventKind::OtherData, *opened.run.otherData});
    }
    return branch;
}

Result<HeldOutLoss> heldOutLoss(CompiledNetwork& network, const OpenedCheckpoint& opened,
                                const projects::TrainingPlan& plan, const PreparationWatch& watch)
{
    const bool validates = opened.dataset->size(Split::Validation) > 0;
    Evaluation evaluation(network, *opened.dataset, validates ? Split::Validation : Split::Train, plan, at::kCPU,
                          std::max<std::int64_t>(plan.validationBatches, 1));
    while (!evaluation.atEnd()) {
        RESIDUA_TRY(stillWanted(watch, 0));
        RESIDUA_TRY(evaluation.advance(passAfter(opened.checkpoint.state.step)));
    }
    return HeldOutLoss{evaluation.loss(), evaluation.batchesDone()};
}

Status writeTransferred(const std::filesystem::path& directory, const OpenedCheckpoint& opened,
                        const TransferPlan& plan, const projects::Project& project, CompiledNetwork& network,
                        const WeightAverage& average)
{
    Optimiser optimiser(project.training, network.parameters());
    RESIDUA_TRY(plan.applyMoments(opened.checkpoint.optimiser, network.parameters(), optimiser));
    const HostTensors model = hostTensors(network.parameters());
    HostTensors moments = optimiser.state();
    average.addTo(moments);
    const auto inDocument = [&](const std::map<std::string, StoredTensor>& tensors) {
        std::map<std::string, StoredTensor> named;
        for (const auto& [name, tensor] : tensors) {
            named.emplace(projects::nameOfView(project, opened.tower, name), tensor);
        }
        return named;
    };
    return writeCheckpoint(directory, opened.checkpoint.state, inDocument(model.stored()), inDocument(moments.stored()),
                           {});
}

} // namespace residua::engine
