// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/train/fit_inputs.h"

#include "engine/compute/runtime/device.h"
#include "engine/compute/train/batches.h"
#include "engine/compute/train/tensor_io.h"
#include "projects/nodes/attention_features.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace residua::engine {
namespace {

/// Returns the inputs of the full network's weights on the first batch of the training data.
Result<FitInputs> readFullInputs(const projects::Project& project, const Dataset& dataset, const std::string& device,
                                 const PreparationWatch& watch)
{
    const projects::Project full = fullRank(project);
    const Result<c10::Device> opened = openDevice(device);
    const auto network = CompiledNetwork::compile(full, dataset.schema(), device);
    if (!opened || !network) {
        return opened ? network.error() : opened.error();
    }
    // Progress counts the network that is trained, for which nothing is done yet.
    const PreparationWatch begins = watch ? PreparationWatch([&watch](double) { return watch(0); }) : watch;
    RESIDUA_TRY((*network)->initialise(begins, {}));
    return readInputs(**network, dataset, project, *opened, Pass());
}

template <class Change>
void forEachNode(projects::Project& project, const Change& change)
{
    const auto all = [&](projects::Graph& graph) { std::ranges::for_each(graph.nodes, change); };
    all(project.network.stem);
    all(project.network.head);
    std::ranges::for_each(project.network.blocks, all, &projects::Block::graph);
}

} // namespace

projects::Project fullRank(projects::Project project)
{
    project.network.rank = projects::FullRank{};
    forEachNode(project, [](projects::Node& node) {
        const projects::NodeKind* const kind = projects::findNodeKind(node.kind);
        for (const projects::ParamSpec& spec : kind ? kind->params : std::vector<projects::ParamSpec>()) {
            if (spec.type == projects::ParamType::Rank) {
                node.params.erase(spec.name());
            }
        }
        if (projects::roleOf(node) == projects::NodeRole::Attention) {
            node.params.erase(projects::kWeightsParam);
        }
    });
    return project;
}

projects::Project unfitted(projects::Project project)
{
    project.initialisation.lowRank = projects::LowRankMethod::Baseline;
    forEachNode(project, [](projects::Node& node) {
        if (projects::roleOf(node) == projects::NodeRole::Attention) {
            node.params[projects::kFeaturesStartParam] = std::string(projects::kDrawnFeatures);
        }
    });
    return project;
}

std::int64_t fitLengthOf(const projects::Project& project)
{
    const bool hasTime = projects::examplesOf(project).hasTime();
    return hasTime ? std::min(project.training.sequenceLength, kFitLength) : kFitLength;
}

Result<FitInputs> readInputs(CompiledNetwork& network, const Dataset& dataset, const projects::Project& project,
                             c10::Device device, Pass pass)
{
    const projects::TrainingPlan& plan = project.training;
    Batch batch;
    RESIDUA_TRY(dataset.fillSequential(batch, Split::Train, 0, plan.batch));
    if (batch.batch == 0) {
        return Error{"data", "there is no example to fit the weights to"};
    }
    WeightInputs inputs(fitLengthOf(project));
    pass.weightInputs = &inputs;
    const at::NoGradGuard noGrad;
    (void)network.forward(upload(batch, dataset.schema(), device, parameterType(plan.precision)), pass);
    return inputs.of(network.parameters());
}

Status prepareFits(const projects::Project& project, const Dataset& dataset, const std::string& device,
                   CompiledNetwork& network, const PreparationWatch& watch)
{
    InitPlan& plan = network.initPlan();
    const projects::Initialisation& initialisation = project.initialisation;
    const bool fitsFactors = !plan.factored().empty() && initialisation.lowRank != projects::LowRankMethod::Baseline;
    const bool fitsFeatures = std::ranges::any_of(plan.attentions(), &AttentionFeatures::fitted);
    if (!fitsFactors && !fitsFeatures) {
        return Done{};
    }
    FitSetting setting{.cache = userFitCache(), .inputs = {.length = fitLengthOf(project)}};
    const bool looksAtInputs =
        fitsFeatures || (fitsFactors && initialisation.lowRank != projects::LowRankMethod::Spectral);
    if (initialisation.lowRankInputs == projects::LowRankInputs::Data && looksAtInputs) {
        setting.inputs = RESIDUA_TRY(readFullInputs(project, dataset, device, watch));
    }
    plan.setFits(std::move(setting));
    return Done{};
}

} // namespace residua::engine
