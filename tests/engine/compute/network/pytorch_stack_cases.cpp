// SPDX-License-Identifier: GPL-3.0-or-later
#include "pytorch_cases.h"

#include "network_harness.h"

#include "projects/depth/visit_shortcuts.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/graph_builder.h"

#include <utility>

namespace residua::tests {

using projects::DepthMix;
using projects::GraphBuilder;
using projects::Project;

void PyTorchCases::addStages()
{
    using namespace projects;
    for (const char* const topology :
         {"plain", "grn-v1", "grn-v3", "k-dca", "ancre-ingoing", "ancre-outgoing", "denseformer", "hyper-static",
          "laurel-pa", "densenet", "rezero", "value-residual", "attention-residuals", "attention-residuals-block"}) {
        const bool apart = std::string(topology) == "k-dca";
        Project project = tinyLanguage(apart ? "transformer-qkv" : "transformer", topology, kPyTorchDepth);
        project.training.steps = 12;
        project.stack().schedule = *scheduleFrom("stacking 2-3-4", kPyTorchDepth, 12);
        add(std::string("grown-") + topology, project, 6);
    }
    Project opening = tinyLanguage("transformer", "plain", kPyTorchDepth);
    opening.training.steps = 12;
    opening.stack().schedule = *scheduleFrom("stacking 2-3-4", kPyTorchDepth, 12);
    opening.stack().schedule.growthWarmup = 4;
    add("opening", opening, 6);
    Project evaluated = tinyVectors("mlp", "plain", kPyTorchDepth);
    evaluated.training.steps = 12;
    evaluated.stack().schedule = *scheduleFrom("stochastic-depth", kPyTorchDepth, 12);
    add("stochastic-depth", evaluated, 12);
}

void PyTorchCases::addLoops()
{
    using namespace projects;
    const auto looped = [](const std::string& block, const std::string& topology, Loop loop) {
        Project project = tinyLanguage(block, "plain", kPyTorchDepth);
        project.stack().loops = {loop};
        project.stack().topology = topologyNamed(topology, project.network);
        return project;
    };
    for (const TopologyPreset& preset : topologyPresets(kPyTorchDepth)) {
        const std::string& block = blockPresetFor(preset.wiring).name;
        if (block == kFirstMuddBlock) {
            continue;
        }
        for (const VisitOrder order : {VisitOrder::Cycle, VisitOrder::InPlace}) {
            const std::string name = order == VisitOrder::Cycle ? "cycle-" : "in-place-";
            Loop loop{.first = 2, .last = 3, .visits = 3, .order = order};
            loop.scale = order == VisitOrder::Cycle ? 1 : 0.5;
            add("loop-" + name + preset.name, looped(block, preset.name, loop));
        }
    }
    Loop changing{.first = 2, .last = 3, .visits = 3};
    changing.embedding = true;
    for (const char* const topology : {"plain", "ancre-ingoing", "denseformer", "denseformer-dilated", "highway",
                                       "post-norm", "rezero", "laurel-pa", "value-residual"}) {
        Loop loop = changing;
        loop.injection = LoopInjection::Linear;
        loop.gate = true;
        loop.norm = LoopNorm::Visits;
        add(std::string("loop-linear-") + topology, looped("transformer", topology, loop));
        loop.injection = LoopInjection::Add;
        loop.norm = LoopNorm::Exit;
        loop.draw = VisitDraw::Poisson; // makes 2 of 3 visits
        loop.mean = 2;
        add(std::string("loop-drawn-") + topology, looped("transformer", topology, loop));
    }
    const Loop drawn{.first = 2, .last = 3, .visits = 4, .draw = VisitDraw::Poisson, .mean = 2};
    for (const char* const topology : {"grn-v1", "grn-v3", "mhc", "hyper-dynamic", "frac-static", "densenet"}) {
        add(std::string("loop-fewer-") + topology, looped("transformer", topology, drawn));
    }
    for (const char* const topology :
         {"plain", "highway", "post-norm", "rezero", "laurel-rw", "laurel-lr", "laurel-rw-lr", "mhc", "hyper-static"}) {
        Loop loop{.first = 2, .last = 3, .visits = 3};
        loop.rows = VisitRows::Layer;
        add(std::string("loop-shared-") + topology, looped("transformer", topology, loop));
    }
    for (const char* const topology : {"denseformer", "ancre-ingoing", "grn-v2", "attention-residuals"}) {
        Project project = looped("transformer", topology, {.first = 2, .last = 3, .visits = 3});
        auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
        mix.sites = MixSites::Mhsa;
        mix.sources = FirstAndLast{2, EarlierEntries::Input};
        project.stack().loops[0].rows = VisitRows::Layer;
        add(std::string("loop-distances-") + topology, std::move(project));
    }
    for (const char* const topology : {"plain", "none", "ancre-ingoing", "attention-residuals"}) {
        Project project =
            looped("transformer", topology, {.first = 2, .last = 3, .visits = 3, .rows = VisitRows::Layer});
        auto& mix = std::get<DepthMix>(project.stack().topology.wiring);
        mix.sites = MixSites::Mhsa;
        mix.lastMix = true;
        const std::string final = mix.finalMix ? "+4:5" : "";
        const auto shortcuts = shortcutsFrom("0:1+0:2+1:2+3:2+2:3+1:3+2:4+3:4" + final, project.stack(), mix);
        if (mix.weight == WeightKind::Fixed) {
            for (const Shortcut& shortcut : *shortcuts) {
                mix.states[shortcut] = ShortcutState::Learned;
            }
        }
        if (!isRunningSum(mix)) {
            mix.sources = ExplicitSources{*shortcuts};
        }
        add(std::string("loop-every-visit-") + topology, std::move(project));
    }
    for (const auto& [topology, block] : {std::pair{"plain", "gpt"},
                                          {"dca", "transformer-qkv"},
                                          {"grn-v3", "transformer"},
                                          {"mhc", "transformer"},
                                          {"value-residual", "transformer"}}) {
        Loop loop{.first = 2, .last = 3, .visits = 3, .adapterRank = 2};
        Project project = looped(block, topology, loop);
        if (topology == std::string("mhc")) {
            project.network.rank = FixedRank{2};
            project.initialisation.lowRank = LowRankMethod::Baseline;
        }
        add(std::string("loop-products-") + topology, std::move(project));
    }
    Project gated = looped("transformer", "denseformer",
                           {.first = 2, .last = kPyTorchDepth, .visits = 3, .norm = LoopNorm::Exit, .exitGate = true});
    add("loop-exit-gate", std::move(gated));
    Loop ending = changing;
    ending.norm = LoopNorm::Head;
    Project headed = looped("transformer", "plain", ending);
    for (Node& node : headed.network.head.nodes) {
        node.kind = node.kind == "layer_norm" ? "rms_norm" : node.kind;
    }
    add("loop-head-norm", std::move(headed));
    for (const LoopStreams streams : {LoopStreams::Lanes, LoopStreams::Gated}) {
        Loop loop{.first = 2, .last = 3, .visits = 3, .embedding = true, .streams = streams, .streamCount = 3};
        loop.norm = streams == LoopStreams::Lanes ? LoopNorm::Visits : LoopNorm::Exit;
        add("loop-streams-" + std::to_string(static_cast<int>(streams)), looped("transformer", "plain", loop));
        loop.draw = VisitDraw::Poisson; // makes 2 of 3 visits
        loop.mean = 2;
        add("loop-streams-fewer-" + std::to_string(static_cast<int>(streams)), looped("transformer", "plain", loop));
    }
    Project deep = looped("transformer", "post-norm", changing);
    std::get<BranchGate>(deep.stack().topology.wiring).scale = PostNormScale::DeepLoop;
    add("loop-deep", std::move(deep));
    Project shortcuts = looped("transformer", "plain", changing);
    std::get<DepthMix>(shortcuts.stack().topology.wiring).states = {{{0, 3}, ShortcutState::Learned},
                                                                    {{2, 5}, ShortcutState::Learned}};
    add("loop-learned-sum", std::move(shortcuts));
    Project several = tinyLanguage("transformer", "plain", 5);
    several.stack().loops = {changing, {.first = 4, .last = 4, .visits = 5, .norm = LoopNorm::Visits, .scale = 0.25}};
    add("loop-several", std::move(several));
    Project conditions = tinyClassifier("laurel-rw", kPyTorchDepth);
    conditions.stack().loops = {drawn};
    conditions.stack().topology = topologyNamed("laurel-rw", conditions.network);
    add("loop-conditions", std::move(conditions));
    Project grown = looped("transformer", "grn-v1", {.first = 2, .last = 3, .visits = 3});
    grown.training.steps = 12;
    grown.stack().schedule = *scheduleFrom("stacking 4-6-8", grown.stack().depth(), 12);
    add("grown-loop", std::move(grown), 6);
}

namespace {

/// The network of a document as a further tower.
projects::Tower towerOf(const Project& project, const std::string& name, projects::OwnLoss own)
{
    projects::Tower tower{project.network};
    tower.network.name = name;
    tower.network.ownLoss = own;
    return tower;
}

/// Lets the first tower read a value through a joint to its width.
void join(Project& project, const std::string& value)
{
    project.network.input = value;
    project.network.stem = GraphBuilder()
                               .node("input", "input")
                               .then("joint", "linear", {{"out", std::string("d")}, {"bias", false}})
                               .then("output", "output")
                               .build();
}

/// A student with a head that adds a frozen teacher's logits, a second student, and losses for both and for one.
Project taught()
{
    Project project = tinyLanguage("transformer", "mhc", 2);
    project.towers = {towerOf(tinyLanguage("transformer", "plain", 3), "my-teacher", projects::OwnLoss::Measured),
                      towerOf(tinyLanguage("transformer", "grn-v3", 2), "other", projects::OwnLoss::Trained)};
    project.towers[0].network.frozen = true;
    project.towers[1].network.lossWeight = 0.5;
    project.network.head = GraphBuilder()
                               .node("input", "input")
                               .node("teacher", "input", {{"port", std::string("my-teacher.output")}})
                               .node("logits", "linear", {{"out", std::string("vocab")}})
                               .node("add", "add")
                               .node("output", "output")
                               .wire("input", "logits")
                               .wire("logits", "add.in1")
                               .wire("teacher", "add.in2")
                               .wire("add", "output")
                               .build();
    const auto loss = [&](const char* name, projects::LossKind kind, const char* output, const char* target) {
        projects::Loss& made = project.losses.emplace_back();
        made.name = name;
        made.kind = kind;
        made.output = output;
        made.target = target;
        made.weight = 0.25;
        return &made;
    };
    loss("soft", projects::LossKind::SoftTargets, "other.output", "my-teacher.output")->temperature = 2;
    loss("close", projects::LossKind::SquaredError, "network.states", "other.states")->trains = {"network"};
    loss("again", projects::LossKind::CrossEntropy, "other.output", "");
    project.training.judgedBy = "other"; // its objective is "loss", and that of the first one "loss of network"
    return project;
}

} // namespace

void PyTorchCases::addTowers()
{
    Project joined = tinyLanguage("transformer-qkv", "dca", 3);
    joined.towers = {towerOf(tinyLanguage("transformer", "ancre-ingoing", 3), "lower", projects::OwnLoss::Trained)};
    joined.towers[0].network.stack().width = 4;
    joined.towers[0].network.stack().loops = {{.first = 2, .last = 3, .visits = 2}};
    join(joined, "lower.states");
    add("towers-joined", std::move(joined));
    add("towers-taught", taught());
    Project paired = tinyVectors("mlp", "grn-v1", 2);
    paired.towers = {towerOf(tinyVectors("mlp", "plain", 2), "other", projects::OwnLoss::None)};
    projects::Loss contrastive;
    contrastive.name = "pairs";
    contrastive.kind = projects::LossKind::Contrastive;
    contrastive.target = "other.output";
    paired.losses = {contrastive};
    add("towers-contrastive", std::move(paired));
    Project masked = tinyClassifier("ancre-ingoing", 2);
    masked.towers = {towerOf(tinyClassifier("plain", 2), "encoder", projects::OwnLoss::None)};
    join(masked, "encoder.states");
    add("towers-conditions", std::move(masked));
}

} // namespace residua::tests
