// SPDX-License-Identifier: GPL-3.0-or-later
// Contrastive reinforcement learning: an actor, representations of steps and of goals, and an entropy coefficient.
#include "projects/base/text.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/recipes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {
namespace {

constexpr std::int64_t kFeatures = 64; ///< of a representation
constexpr const char* kActor = "actor";
constexpr const char* kSteps = "steps";
constexpr const char* kGoals = "goals";
constexpr const char* kValue = "value";
constexpr const char* kTemperature = "temperature";

/// Adds a linear layer with layer norm and swish behind the last node, and the graph's output.
Graph endOfStem(GraphBuilder graph)
{
    return graph.then("linear", "linear", {{"bias", true}})
        .then("norm", "layer_norm", {{"epsilon", 1e-6}})
        .then("swish", "activation", {{"function", std::string("silu")}})
        .toOutput();
}

/// Returns a stem that reads the input, and `port` beside it.
Graph stemBeside(const std::string& port)
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("beside", "input", {{"port", port}})
        .node("both", "concat")
        .wire("input", "both.in1")
        .wire("beside", "both.in2");
    return endOfStem(std::move(graph));
}

Graph representationHead()
{
    return GraphBuilder::fromInput().then("out", "linear", {{"out", kFeatures}, {"bias", true}}).toOutput();
}

/// Returns the head of an actor: tanh of a normal distribution, and the logarithm of the action's density at the port
/// log_prob. Outside of training the action is that of the mean.
Graph actorHead(std::int64_t actions)
{
    const std::string deviation = "(-5 + 3.5 * (tanh(s) + 1))"; // its logarithm, from -5 to 2
    return GraphBuilder::fromInput()
        .node("mean", "linear", {{"out", actions}, {"bias", true}})
        .node("spread", "linear", {{"out", actions}, {"bias", true}})
        .node("noise", "noise")
        .node("drawn", "expression", {{"formula", "m + exp" + deviation + " * e"}})
        .node("action", "activation", {{"function", std::string("tanh")}})
        .node("density", "expression",
              {{"formula", std::to_string(actions) + " * mean(-0.5 * e^2 - 0.9189385332046727 - " + deviation +
                               " - log(1 - a^2 + 0.000001))"}})
        .node("output", "output")
        .node("log_prob", "output", {{"port", std::string("log_prob")}})
        .wire("input", "mean")
        .wire("input", "spread")
        .wire("mean", "noise")
        .wire("mean", "drawn.m")
        .wire("spread", "drawn.s")
        .wire("noise", "drawn.e")
        .wire("drawn", "action")
        .wire("noise", "density.e")
        .wire("spread", "density.s")
        .wire("action", "density.a")
        .wire("action", "output")
        .wire("density", "log_prob")
        .build();
}

/// Returns the head that makes α·ln π + ‖φ − ψ‖ of the actor's action.
Graph valueHead()
{
    return GraphBuilder::fromInput()
        .then("out", "linear", {{"out", kFeatures}, {"bias", true}})
        .node("goal", "input", {{"port", std::string(kGoals) + ".output"}})
        .node("log_prob", "input", {{"port", std::string(kActor) + ".log_prob"}})
        .node("log_alpha", "input", {{"port", std::string(kTemperature) + ".log_alpha"}})
        .node("loss", "expression",
              {{"formula", "exp(t) * l + sqrt(" + std::to_string(kFeatures) + " * mean((p - q)^2))"}})
        .node("output", "output")
        .wire("out", "loss.p")
        .wire("goal", "loss.q")
        .wire("log_prob", "loss.l")
        .wire("log_alpha", "loss.t")
        .wire("loss", "output")
        .build();
}

/// Returns the tower of ln α: (A/2 − ln π), which its layer multiplies by α.
Network temperature(std::int64_t actions)
{
    Network network;
    network.name = kTemperature;
    network.input = std::string(kActor) + ".log_prob";
    network.ownLoss = OwnLoss::None;
    network.stack().width = 1;
    network.stem =
        GraphBuilder::fromInput()
            .node("excess", "expression", {{"formula", numberText(0.5 * static_cast<double>(actions)) + " - x"}})
            .node("output", "output")
            .node("alpha", "parameter", {{"value", 0.0}})
            .node("log_alpha", "output", {{"port", std::string("log_alpha")}})
            .wire("input", "excess.x")
            .wire("excess", "output")
            .wire("alpha", "log_alpha")
            .build();
    const Graph block = GraphBuilder::fromInput()
                            .node("alpha", "input", {{"port", std::string(kTemperature) + ".log_alpha"}})
                            .node("rest", "expression", {{"formula", std::string("(exp(t) - 1) * x")}})
                            .node("output", "output")
                            .wire("input", "rest.x")
                            .wire("alpha", "rest.t")
                            .wire("rest", "output")
                            .build();
    network.blocks = {{"alpha", {}, block}};
    network.stack().segments = {{"alpha", 1}};
    network.head = GraphBuilder::fromInput().toOutput();
    return network;
}

Network tower(const Network& like, const std::string& name, Graph stem, Graph head)
{
    Network network = like;
    network.name = name;
    network.ownLoss = OwnLoss::None;
    network.stem = std::move(stem);
    network.head = std::move(head);
    return network;
}

/// The worlds of ANCRe's figure 8, whose models a person has.
WorldData modelOf(std::int64_t states, std::int64_t actions, std::int64_t goals)
{
    return {.kind = WorldKind::Mujoco,
            .path = {},
            .states = states,
            .actions = actions,
            .goals = goals,
            .environments = 512,
            .memory = 8192,
            .judged = 128};
}

Recipe contrastiveRecipe(const std::string& world, const std::string& title, const WorldData& model,
                         std::int64_t layers)
{
    constexpr std::int64_t kLayersOfBlock = 4;
    Project project = contrastiveLearning(model, layers / kLayersOfBlock, 256);
    project.training.steps = 2'480'000;
    project.training.validateEvery = 24'800;
    project.training.checkpointEvery = 24'800;
    const std::string depth = std::to_string(layers);
    return {"ancre-crl-" + world + "-" + depth,
            "ANCRe: " + title + ", " + depth + " layers",
            depth + " layers of 256 in blocks of four, contrastive reinforcement learning (figure 8, table 8)",
            std::move(project),
            "ancre-ingoing",
            {},
            {"models of bodies are the user's own and run in MuJoCo; the paper's simulator is Brax",
             "weights start normal with the variance of the authors' uniform law",
             "examples are drawn from the whole replay buffer; the authors draw a window of each environment"}};
}

} // namespace

Project contrastiveLearning(const WorldData& world, std::int64_t blocks, std::int64_t width)
{
    const std::int64_t actions = sizesOf(world).actions;
    Project project = sized("mlp-normed", blocks, width, 1);
    project.data.source = world;
    project.data.validationFraction = 0;
    Network& actor = project.network;
    actor.name = kActor;
    actor.objective = Objective::TimeAtGoal;
    actor.ownLoss = OwnLoss::Measured;
    actor.stem = stemBeside(kGoalField);
    actor.head = actorHead(actions);
    Network goals = tower(actor, kGoals, endOfStem(GraphBuilder::fromInput()), representationHead());
    goals.input = kGoalField;
    Network value = tower(actor, kValue, stemBeside(std::string(kActor) + ".output"), valueHead());
    value.weights = kSteps;
    project.towers = {{tower(actor, kSteps, stemBeside(kActionField), representationHead())},
                      {std::move(goals)},
                      {temperature(actions)},
                      {std::move(value)}};
    const auto output = [](const char* name) { return std::string(name) + ".output"; };
    project.losses = {
        {.name = "contrast",
         .kind = LossKind::Contrastive,
         .output = output(kSteps),
         .target = output(kGoals),
         .trains = {kSteps, kGoals}},
        {.name = "action", .kind = LossKind::Mean, .output = output(kValue), .target = {}, .trains = {kActor}},
        {.name = "entropy",
         .kind = LossKind::Mean,
         .output = output(kTemperature),
         .target = {},
         .trains = {kTemperature}}};
    project.initialisation = {
        .law = InitLaw::KaimingNormal, .scale = std::sqrt(1.0 / 6), .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    plan.precision = Precision::Fp32;
    plan.batch = 512;
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weightDecay = 0};
    plan.learningRate = {.peak = 3e-4, .warmupSteps = 0, .curve = RateCurve::Constant};
    plan.clipNorm = 0;
    return project;
}

namespace {

/// An actor in the built-in maze, small enough for two cores.
Recipe pointMaze()
{
    Project project = contrastiveLearning({.path = {},
                                           .environments = 256,
                                           .episode = 400,
                                           .unroll = 20,
                                           .updates = 100,
                                           .prefill = 100,
                                           .replay = 4000,
                                           .judged = 32},
                                          4, 64);
    TrainingPlan& plan = project.training;
    plan.batch = 128;
    plan.learningRate = {.peak = 1e-3, .warmupSteps = 0, .curve = RateCurve::Cosine};
    plan.steps = 20'000;
    plan.validateEvery = 1000;
    plan.checkpointEvery = 2000;
    return {"point-maze",
            "Point maze",
            "an actor of 16 layers of 64 in a maze with many goals, trained by contrastive learning",
            std::move(project),
            kPlainPreset,
            {},
            {"point-maze has 256 environments, episodes of 400, a rate that falls from 0.001; the paper 512, 1,000 and "
             "0.0003"}};
}

} // namespace

std::vector<Recipe> contrastiveRecipes()
{
    std::vector<Recipe> made{pointMaze()};
    for (const std::int64_t layers : {16, 64}) {
        made.push_back(contrastiveRecipe("humanoid", "humanoid", modelOf(268, 17, 3), layers));
        made.push_back(contrastiveRecipe("ant-maze", "ant in the big maze", modelOf(29, 8, 2), layers));
    }
    return made;
}

} // namespace residua::projects
