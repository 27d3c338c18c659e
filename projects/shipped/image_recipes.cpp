// SPDX-License-Identifier: GPL-3.0-or-later
// Parts that recipes of convolutional networks share.
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/towers.h"
#include "projects/shipped/recipes.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace residua::projects {

PictureData picturesOf(std::int64_t side, std::int64_t classes)
{
    return {.path = {}, .validationPath = {}, .height = side, .width = side, .channels = 3, .classes = classes};
}

DataSource imageNetOf(std::int64_t side)
{
    return {.source = picturesOf(side, 1000),
            .validationFraction = 0.01,
            .augmentation = {.leastArea = 0.08,
                             .flip = true,
                             .mean = 0.485,
                             .deviation = 0.229,
                             .meanGreen = 0.456,
                             .meanBlue = 0.406,
                             .deviationGreen = 0.224,
                             .deviationBlue = 0.225}};
}

Project chainOf(std::vector<ImageStage> stages, Graph head)
{
    Project project = sized("mlp", 1, stages.back().width, 1); // for its plain topology and plan
    const Topology plain = project.stack().topology;
    std::string before;
    for (ImageStage& stage : stages) {
        Network network;
        network.name = stage.name;
        network.input = before.empty() ? before : before + ".states";
        network.ownLoss = OwnLoss::None;
        network.objective = Objective::Classification;
        network.stem = std::move(stage.stem);
        network.stack().width = stage.width;
        network.stack().segments = {{stage.block.name, stage.layers}};
        network.stack().topology = plain;
        network.blocks = {std::move(stage.block)};
        network.head = GraphBuilder::fromInput().toOutput();
        before = stage.name;
        project.towers.push_back({std::move(network)});
    }
    project.network = std::move(project.towers.back().network);
    project.towers.pop_back();
    project.network.name = kFirstTower;
    project.network.ownLoss = OwnLoss::Trained;
    project.network.head = std::move(head);
    project.initialisation = {.law = InitLaw::KaimingNormal, .scale = 1, .scaleResidualByDepth = false};
    project.training.sequenceLength = 1;
    project.training.clipNorm = 0;
    return project;
}

std::vector<Graph*> graphsOf(Project& project)
{
    std::vector<Graph*> graphs;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        Network& network = index == 0 ? project.network : project.towers[index - 1].network;
        graphs.insert(graphs.end(), {&network.stem, &network.head});
        for (Block& block : network.blocks) {
            graphs.push_back(&block.graph);
        }
    }
    return graphs;
}

void trainAsNlra(Project& project)
{
    project.network.labelSmoothing = 0.1;
    project.initialisation = {.law = InitLaw::TruncatedNormal, .scale = 1, .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    plan.batch = 256;
    plan.accumulate = 16;
    plan.steps = 62'000;
    plan.optimiser = Sgd{.momentum = 0.9, .weightDecay = 1e-4};
    plan.learningRate = {.peak = 1.6, .warmupSteps = 1560, .curve = RateCurve::Cosine, .finalFraction = 0};
}

void factorAsNlra(Project& project)
{
    constexpr double kScale = 0.2;
    project.initialisation.lowRank = LowRankMethod::LfaiWs;
    for (std::size_t index = 0; index < towerCount(project); ++index) {
        Network& stage = index == 0 ? project.network : project.towers[index - 1].network;
        stage.rank = RankScale{kScale};
        for (Graph* const graph : {&stage.stem, &stage.head, &stage.blocks.front().graph}) {
            const bool followsTower = graph == &stage.blocks.front().graph;
            for (Node& node : graph->nodes) {
                if (node.kind == "conv2d" && !node.params.contains(kGroupsParam)) {
                    node.params[kUnfoldingParam] = std::string(kBySide);
                    if (!followsTower) {
                        node.params["rank"] = kScale;
                    }
                } else if (node.kind == "linear" && followsTower) {
                    node.params["rank"] = std::string(kFullRank);
                }
            }
        }
    }
}

} // namespace residua::projects
