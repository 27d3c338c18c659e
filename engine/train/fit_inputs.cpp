// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/train/fit_inputs.h"

#include "engine/graph/fit_cache.h"
#include "engine/graph/weight_inputs.h"
#include "engine/runtime/device.h"
#include "engine/train/batches.h"
#include "engine/train/precision.h"
#include "projects/nodes/node_kinds.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace residua::engine {
namespace {

Result<std::map<std::string, at::Tensor>> momentsOf(const projects::Project& project, const Dataset& dataset,
                                                    const std::string& device)
{
    const projects::Project full = fullRank(project);
    const Result<c10::Device> opened = openDevice(device);
    const auto network = CompiledNetwork::compile(full, dataset.schema(), device);
    if (!opened || !network) {
        return opened ? network.error() : opened.error();
    }
    if (const Status started = (*network)->initialise({}, {}); !started) {
        return started.error();
    }
    Batch batch;
    const projects::TrainingPlan& plan = project.training;
    if (const Status filled = dataset.fillSequential(batch, Split::Train, 0, plan.batch); !filled) {
        return filled.error();
    }
    if (batch.batch == 0) {
        return Error{"data", "there is no example to fit the factored weights to"};
    }
    WeightInputs inputs;
    Pass pass;
    pass.weightInputs = &inputs;
    const at::NoGradGuard noGrad;
    (void)(*network)->forward(upload(batch, dataset.schema(), *opened, parameterType(plan.precision)).input, pass);
    std::map<std::string, at::Tensor> moments;
    for (const NamedParameter& parameter : (*network)->parameters()) {
        if (const at::Tensor of = inputs.momentsOf(parameter.tensor); of.defined()) {
            moments.emplace(parameter.name, of);
        }
    }
    return moments;
}

} // namespace

projects::Project fullRank(projects::Project project)
{
    project.network.rank = projects::FullRank{};
    const auto makeFull = [](projects::Graph& graph) {
        for (projects::Node& node : graph.nodes) {
            const projects::NodeKind* const kind = projects::findNodeKind(node.kind);
            for (const projects::ParamSpec& spec : kind ? kind->params : std::vector<projects::ParamSpec>()) {
                if (spec.type == projects::ParamType::Rank) {
                    node.params.erase(spec.name);
                }
            }
        }
    };
    makeFull(project.network.stem);
    makeFull(project.network.head);
    std::ranges::for_each(project.network.blocks, makeFull, &projects::Block::graph);
    return project;
}

Status prepareFits(const projects::Project& project, const Dataset& dataset, const std::string& device,
                   CompiledNetwork& network)
{
    InitPlan* const plan = network.initPlan();
    const projects::Initialisation& initialisation = project.initialisation;
    if (plan == nullptr || plan->factored().empty() || initialisation.lowRank == projects::LowRankMethod::Baseline) {
        return Done{};
    }
    FitSetting setting{.cache = userFitCache(), .inputMoments = {}};
    const bool looksAtInputs = initialisation.lowRank != projects::LowRankMethod::Spectral;
    if (initialisation.lowRankInputs == projects::LowRankInputs::Data && looksAtInputs) {
        Result<std::map<std::string, at::Tensor>> moments = momentsOf(project, dataset, device);
        if (!moments) {
            return moments.error();
        }
        setting.inputMoments = std::move(*moments);
    }
    plan->setFits(std::move(setting));
    return Done{};
}

} // namespace residua::engine
