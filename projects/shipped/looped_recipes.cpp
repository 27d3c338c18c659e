// SPDX-License-Identifier: GPL-3.0-or-later
// Networks whose layers are visited several times with the same weights, at the sizes of their papers.
#include "projects/library/presets.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/recipes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace residua::projects {
namespace {

std::string layersText(const Stack& stack)
{
    const Loop& loop = stack.loops.front();
    const std::int64_t before = loop.first - 1;
    const std::int64_t after = stack.stored() - loop.last;
    const std::string core = std::to_string(loop.last - before) + " × " + std::to_string(evaluatedVisits(loop));
    return (before > 0 ? std::to_string(before) + " + " : "") + core +
           (after > 0 ? " + " + std::to_string(after) : "") + " layers of " + std::to_string(stack.width);
}

Recipe loopedRecipe(const std::string& name, const std::string& title, const std::string& rest, Project project,
                    std::vector<std::string> differences)
{
    const std::string summary = layersText(project.stack()) + rest;
    const std::string topology = project.stack().topology.preset;
    return {name, title, summary, std::move(project), topology, {}, std::move(differences)};
}

/// Universal Transformer, base: one layer for six steps; positions and a step's signal are added at every step.
Recipe universalTransformer()
{
    Project project = sized("gpt", 1, 1024, 16);
    readText(project, 32'768);
    project.network.head = GraphBuilder::fromInput()
                               .then("norm", "layer_norm")
                               .then("logits", "linear", {{"out", std::string("vocab")}})
                               .toOutput();
    project.network.tieHead = true;
    GraphBuilder block;
    block.node("input", "input")
        .node("positions", "sinusoidal_positions")
        .node("norm_attention", "layer_norm")
        .node("attention", "attention", {{"heads", std::int64_t{16}}, {"rope", false}})
        .node("add_attention", "add")
        .node("norm_ffn", "layer_norm")
        .node("up", "linear", {{"out", std::string("4*d")}, {"bias", true}})
        .node("relu", "activation", {{"function", std::string("relu")}})
        .node("down", "linear", {{"bias", true}})
        .node("branch", "expression", {{"formula", std::string("p + a + f - x")}})
        .node("output", "output")
        .wire("input", "positions")
        .wire("positions", "norm_attention");
    for (const char* const port : {"attention.q", "attention.k", "attention.v"}) {
        block.wire("norm_attention", port);
    }
    block.wire("positions", "add_attention.in1")
        .wire("attention", "add_attention.in2")
        .wire("add_attention", "norm_ffn")
        .wire("norm_ffn", "up")
        .wire("up", "relu")
        .wire("relu", "down")
        .wire("positions", "branch.p")
        .wire("attention", "branch.a")
        .wire("down", "branch.f")
        .wire("input", "branch.x")
        .wire("branch", "output");
    project.network.blocks = {{"universal", {}, block.build()}};
    project.stack().segments.front().block = "universal";
    project.stack().loops = {{.first = 1, .last = 1, .visits = 6, .embedding = true}};
    setSteps(project.training, 256, 128, 16, 100'000);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.997, .epsilon = 1e-9, .weightDecay = 0};
    project.training.learningRate = {.peak = 1e-3, .warmupSteps = 8000, .curve = RateCurve::InverseSquareRoot};
    return loopedRecipe(
        "universal-transformer", "Universal Transformer", ", 32,768 tokens, a step signal for each visit",
        std::move(project),
        {"a language model of one stack; the paper's is an encoder and a decoder for translation",
         "six visits for every token; the paper's adaptive time halts each token by itself",
         "rate, batch and steps are of a plain transformer of that width, for the paper's depend on its task"});
}

/// ALBERT, base: post-norm, one layer for twelve, tokens in a table of 128 features.
Recipe albert()
{
    constexpr std::int64_t kTable = 128;
    Project project = sized("transformer-post-norm", 1, 768, 12);
    readText(project, 30'000);
    Network& network = project.network;
    network.objective = Objective::MaskedToken;
    network.tieHead = true;
    network.stem = GraphBuilder::fromInput()
                       .then("embedding", "token_embedding", {{"dim", kTable}})
                       .then("positions", "position_embedding", {{"length", std::int64_t{512}}})
                       .then("norm", "layer_norm", {{"epsilon", 1e-12}})
                       .then("factor", "linear", {{"bias", true}})
                       .toOutput();
    network.head = GraphBuilder::fromInput()
                       .then("dense", "linear", {{"out", kTable}, {"bias", true}})
                       .then("gelu", "activation", {{"function", std::string("gelu_tanh")}})
                       .then("norm", "layer_norm", {{"epsilon", 1e-12}})
                       .then("logits", "linear", {{"out", std::string("vocab")}, {"bias", true}})
                       .toOutput();
    setParam(network.blocks.front().graph, "activation", "function", std::string("gelu_tanh"));
    project.stack().topology = {"post-norm", BranchGate{.gate = BranchGateKind::PostNorm, .epsilon = 1e-12}};
    project.stack().loops = {{.first = 1, .last = 1, .visits = 12, .rows = VisitRows::Layer}};
    project.initialisation = {.law = InitLaw::TruncatedNormal, .scale = 0.02, .scaleResidualByDepth = false};
    setSteps(project.training, 512, 4096, 32, 125'000);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-6, .weightDecay = 0.01};
    project.training.learningRate = {
        .peak = 0.00176, .warmupSteps = 3125, .curve = RateCurve::Linear, .finalFraction = 0};
    return loopedRecipe(
        "albert-base", "ALBERT, base", " on hidden tokens of 30,000, 125,000 steps of 4,096", std::move(project),
        {"AdamW; ALBERT trains with LAMB",
         "hidden tokens alone; with next_sentence, pairs are a text's own or another's, and ALBERT's are two "
         "parts of one text in their order or swapped",
         "single tokens are hidden; ALBERT hides up to three neighbours"});
}

/// Huginn (Geiping et al., 2025): two layers before and after a core of four.
Recipe huginn()
{
    constexpr std::int64_t kWidth = 5280;
    Project project = sized("transformer-sandwich", 8, kWidth, 55);
    readText(project, 65'536);
    Network& network = project.network;
    network.tieHead = true;
    network.stem = GraphBuilder::fromInput()
                       .then("embedding", "token_embedding")
                       .then("scaled", "expression", {{"formula", std::string("72.66361 * in")}}) // √5280
                       .toOutput();
    setHidden(network, std::int64_t{17'920});
    setParam(network.blocks.front().graph, "attention", kBiasParam, std::string(kQkBias));
    setParam(network.blocks.front().graph, "attention", kRopeBaseParam, 50'000.0);
    project.stack().loops = {{.first = 3,
                              .last = 6,
                              .visits = 128,
                              .injection = LoopInjection::Linear,
                              .start = LoopStart::Noise,
                              .norm = LoopNorm::Head,
                              .draw = VisitDraw::LogNormalPoisson,
                              .mean = 33,
                              .gradientVisits = 8}};
    project.initialisation = {
        .law = InitLaw::TruncatedNormal, .scale = std::sqrt(2.0 / (5.0 * kWidth)), .scaleResidualByDepth = true};
    setSteps(project.training, 4096, 4096, 4, 47'684);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 4e-5};
    project.training.learningRate = {.peak = 4e-5, .warmupSteps = 4096, .curve = RateCurve::Constant};
    return loopedRecipe("huginn", "Huginn", ", 65,536 tokens, drawn visits, the last 8 with gradient",
                        std::move(project),
                        {"an evaluation draws one start for all of its examples; Huginn draws for each",
                         "an evaluation makes 33 visits, the mean of training; Huginn's makes 32",
                         "a training step makes at most 128 visits; Huginn's have no bound",
                         "the update is AdamW's; Huginn's takes an arc tangent in place of the division, and clips"});
}

/// Ouro (Zhu et al., 2025): all layers are visited four times, and the normed state enters again.
Recipe ouro()
{
    Project project = sized("transformer-sandwich", 24, 2048, 16);
    readText(project, 49'152);
    Network& network = project.network;
    network.head = GraphBuilder::fromInput().then("logits", "linear", {{"out", std::string("vocab")}}).toOutput();
    setHidden(network, std::int64_t{5632});
    project.stack().loops = {{.first = 1, .last = 24, .visits = 4, .norm = LoopNorm::Visits, .exitGate = true}};
    network.ownLoss = OwnLoss::Measured;
    Loss& exits = project.losses.emplace_back();
    exits.name = "exits";
    exits.kind = LossKind::ExpectedExit;
    setSteps(project.training, 4096, 1024, 4, 100'000);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 0.1};
    project.training.learningRate = {.peak = 3e-4, .warmupSteps = 2000, .curve = RateCurve::Constant};
    return loopedRecipe("ouro-1.4b", "Ouro, 1.4B", ", 49,152 tokens", std::move(project),
                        {"the exit gate starts at 0; we did not find how Ouro's starts",
                         "the gate always trains with the network; Ouro's second stage trains it alone",
                         "the factor of the entropy stays 0.1; Ouro's falls to 0.05",
                         "four visits from the beginning; Ouro starts with eight",
                         "the base of the rotary positions is 10,000; the released weights, of longer texts, have "
                         "1,000,000"});
}

/// Hyperloop Transformers: gated streams between the visits of the middle layers.
Recipe hyperloop(const std::string& size, std::int64_t ends, std::int64_t last, std::int64_t core, std::int64_t width,
                 std::int64_t steps)
{
    Project project = sized("transformer", ends + core + last, width, 16);
    readText(project, 32'000);
    setHidden(project.network, std::string("floor(11*d/4)"));
    project.stack().loops = {{.first = ends + 1,
                              .last = ends + core,
                              .visits = 3,
                              .embedding = true,
                              .streams = LoopStreams::Gated,
                              .streamCount = 4}};
    setSteps(project.training, 2048, 256, 8, steps);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 0.1};
    project.training.learningRate = {
        .peak = 4e-4, .warmupSteps = 1000, .curve = RateCurve::Cosine, .finalFraction = 0.1};
    return loopedRecipe(
        "hyperloop-" + size, "Hyperloop, " + size, ", 4 streams between visits, 32,000 tokens", std::move(project),
        {"streams start with reads of 1/4, writes of 1 and half of a stream kept; the paper's starts are not given"});
}

/// DeepLoop: all layers are visited three times, post-norm with a factor on the residual.
Recipe deepLoop()
{
    Project project = sized("transformer", 12, 768, 12);
    readText(project, 50'257);
    project.network.tieHead = true;
    project.stack().topology = {
        "deep-loop",
        BranchGate{.gate = BranchGateKind::PostNorm, .norm = NormKind::Rms, .scale = PostNormScale::DeepLoop}};
    project.stack().loops = {{.first = 1, .last = 12, .visits = 3, .rows = VisitRows::Layer}};
    project.initialisation.scaleResidualByDepth = false;
    setSteps(project.training, 1024, 512, 16, 100'000);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 0.1};
    project.training.learningRate = {
        .peak = 6e-4, .warmupSteps = 2000, .curve = RateCurve::Cosine, .finalFraction = 0.1};
    return loopedRecipe(
        "deeploop", "DeepLoop", ", 50,257 tokens, 100,000 steps of 512", std::move(project),
        {"layers, width and heads are of GPT-2's smallest; those of the paper's small network are not printed "
         "where we read"});
}

/// Mixture-of-Recursions' "middle cycle" at the shape of SmolLM-360M: the first and the last layer alone, ten between
/// them three times.
Recipe middleCycle()
{
    Project project = sized("transformer", 12, 960, 15);
    readText(project, 49'152);
    project.network.tieHead = true;
    setHidden(project.network, std::int64_t{2560});
    setParam(project.network.blocks.front().graph, "attention", "kv_heads", std::int64_t{5});
    project.stack().loops = {{.first = 2, .last = 11, .visits = 3}};
    setSteps(project.training, 2048, 1024, 16, 14'161);
    project.training.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weightDecay = 0.1};
    project.training.learningRate = {.peak = 3e-3, .warmupSteps = 86, .curve = RateCurve::Linear, .finalFraction = 0};
    return loopedRecipe("middle-cycle", "Middle cycle, 360M", ", the shape of SmolLM-360M's 32 layers",
                        std::move(project),
                        {"every token makes all visits; Mixture-of-Recursions' tokens leave early",
                         "the rate falls from the warm-up on; there it falls in the last fifth"});
}

} // namespace

std::vector<Recipe> loopedRecipes()
{
    return {universalTransformer(),
            albert(),
            huginn(),
            ouro(),
            hyperloop("136m", 2, 2, 4, 1024, 23'842),
            hyperloop("579m", 3, 3, 4, 2048, 95'367),
            hyperloop("990m", 4, 4, 10, 2048, 190'735),
            deepLoop(),
            middleCycle()};
}

} // namespace residua::projects
