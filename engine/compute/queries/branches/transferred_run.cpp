// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/queries/branches/transferred_run.h"

#include "engine/compute/train/optimiser.h"
#include "engine/compute/train/tensor_io.h"

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
    branch.project = project;
    branch.event = {branch.step, kind, parent.filename().string() + ": " + how};
    branch.source = {opened.run.projectDirectory, opened.run.data};
    if (opened.run.otherData) {
        branch.events.push_back({branch.step, RunEventKind::OtherData, *opened.run.otherData});
    }
    return branch;
}

Status writeTransferred(const std::filesystem::path& directory, const OpenedCheckpoint& opened,
                        const TransferPlan& plan, const projects::Project& project, CompiledNetwork& network)
{
    Optimiser optimiser(project.training, network.parameters());
    if (Status carried = plan.applyMoments(opened.checkpoint.optimiser, network.parameters(), optimiser); !carried) {
        return carried;
    }
    const HostTensors model = hostTensors(network.parameters());
    const HostTensors moments = optimiser.state();
    return writeCheckpoint(directory, opened.checkpoint.state, model.stored(), moments.stored(), {});
}

} // namespace residua::engine
