// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/examples.h"

#include "projects/library/paper_studies.h"
#include "projects/library/presets.h"
#include "projects/library/schedule_presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/schedule/stage_schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

namespace residua::projects {
namespace {

constexpr const char* kLanguageCard = "A small language model on a synthetic language whose agreement is nested";

Graph passThrough()
{
    return GraphBuilder().node("input", "input").node("output", "output").wire("input", "output").build();
}

Graph linearGraph(const std::string& out)
{
    return GraphBuilder()
        .node("input", "input")
        .then("project", "linear", {{"out", out}, {"bias", true}})
        .then("output", "output")
        .build();
}

/// Sets a stack of `depth` layers of one block preset.
void stackOf(Network& network, const std::string& preset, std::int64_t depth)
{
    const auto found = std::ranges::find(blockPresets(), preset, &BlockPreset::name);
    network.blocks = {{preset, preset, found->graph}};
    network.stack().segments = {{preset, depth}};
}

Topology topologyNamed(const std::string& name, const Network& network)
{
    const std::vector<TopologyPreset> presets = topologyPresets(network);
    return {name, std::ranges::find(presets, name, &TopologyPreset::name)->wiring};
}

/// Returns a project with eight transformer layers, which two processor cores train in about a minute.
Project languageProject(const std::string& name, const std::string& topology)
{
    Project project;
    project.name = name;
    project.description = kLanguageCard;
    project.data.source = SyntheticLanguage{};
    project.stack().width = 128;
    project.network.stem = tokenStem();
    project.network.head = tokenHead();
    project.network.tieHead = true;
    stackOf(project.network, "transformer", 8);
    project.stack().topology = topologyNamed(topology, project.network);
    project.training.steps = 500;
    project.training.batch = 16;
    project.training.sequenceLength = 64;
    project.training.learningRate = {2e-3, 50, RateCurve::Cosine, 0.1};
    project.training.validateEvery = 50;
    project.training.checkpointEvery = 100;
    project.training.observeEvery = 10;
    return project;
}

/// Returns a project whose stem and head pass vectors through unchanged.
Project vectorProject(const std::string& name, const std::string& description, std::int64_t width, Source source)
{
    Project project;
    project.name = name;
    project.description = description;
    project.data.source = std::move(source);
    project.stack().width = width;
    project.network.stem = passThrough();
    project.network.head = passThrough();
    project.initialisation.scaleResidualByDepth = false;
    project.training.sequenceLength = 1;
    return project;
}

SweepAxis axisOf(const std::string& field, const std::string& label, const std::vector<SweepValue>& values)
{
    return {field, label, values};
}

/// Schedules (scheduleAxis), each with as many steps as come to the project's own sum of trained layers: equal FLOP but
/// for stem and head.
SweepAxis equalFlopAxis(const Project& project, const std::vector<std::pair<std::string, std::string>>& schedules)
{
    SweepAxis axis{kSeveralFields, "method", {}};
    const std::int64_t depth = project.network.depth();
    const std::int64_t planned = project.training.steps;
    const double wanted = averageLength(project.stack().schedule, depth, planned) * static_cast<double>(planned);
    for (const auto& [label, text] : schedules) {
        const Result<StageSchedule> schedule = scheduleFrom(text, depth, planned);
        const std::int64_t steps = std::llround(wanted / averageLength(schedule.value(), depth, planned));
        axis.values.push_back(
            {label, {"{\"/training/steps\": " + std::to_string(steps) + ", \"/schedule\": \"" + text + "\"}"}});
    }
    return axis;
}

/// ANCRe's ablations on a small model: where shortcuts end (table 1), with and without GaLore (table 2), how they are
/// normalised (table 4), and what is learned of them (table 5).
Project ancreLanguage()
{
    Project project = languageProject("Learned shortcuts", "ancre-ingoing");
    project.sweeps = ancreStudies();
    return project;
}

/// DeepCrossAttention's ablation on a small model (table 7).
Project grnLanguage()
{
    Project project = languageProject("GRN-v1", "grn-v1");
    project.sweeps = {{"DCA, table 7", {topologyAxis({"plain", "grn-v1", "grn-v2", "grn-v3", "dca"}), seedAxis()}}};
    return project;
}

Project dcaLanguage()
{
    Project project = languageProject("DeepCrossAttention", "plain");
    stackOf(project.network, "transformer-qkv", 8);
    project.stack().topology = topologyNamed("dca", project.network);
    project.sweeps = dcaStudies(8);
    return project;
}

/// Full-batch gradient descent on a 3-layer linear network (ANCRe, case study 3.1).
Project linearAncre()
{
    Project project =
        vectorProject("Linear network, ANCRe",
                      "Case study 3.1 of ANCRe: where shortcuts sit decides how fast a linear network converges", 16,
                      LinearRegression{});
    project.data.validationFraction = 0;
    project.network.objective = Objective::HalfSquaredError;
    stackOf(project.network, "linear", 3);
    project.stack().topology = topologyNamed("ancre-ingoing", project.network);
    project.initialisation.scale = 0.01; // small random initial weights, as in figure 2
    project.sweeps = {
        {"figure 2a",
         {axisOf("/network/stack/0/repeat", "layers", {{"2 layers", {"2"}}, {"3 layers", {"3"}}, {"4 layers", {"4"}}}),
          topologyAxis({"none"})}},
        {"figure 2b", {topologyAxis({"none", "cascaded", "0:1", "0:2", "ancre-ingoing"})}},
        {"figure 2c",
         {axisOf("/network/stack/0/repeat", "layers", {{"4 layers", {"4"}}}),
          topologyAxis({"none", "0:1+1:2", "0:1+2:3", "0:2+1:3", "0:3", "ancre-ingoing"})}},
    };
    project.training.steps = 1000;
    project.training.batching = BatchKind::Full;
    project.training.optimiser = Sgd{};
    project.training.learningRate = {1.0, 0, RateCurve::Constant, 1.0};
    project.training.clipNorm = 0;
    project.training.precision = Precision::Fp64;
    project.training.validateEvery = 0;
    project.training.observeEvery = 5;
    return project;
}

/// The case study of ANCRe (section 3), which meets its theorems' premises. The target has a direction that needs no
/// learning and the first layer starts at zero, as Theorem 3.2 requires (B.1). With the small start Theorem 3.3 holds
/// too.
Project ancreCaseStudy()
{
    constexpr std::int64_t kDepth = 3;
    Project project = linearAncre();
    project.name = "ANCRe case study";
    project.description = "Linear networks by full-batch gradient descent: the place of one shortcut decides between "
                          "a power of the step and an exponential (ANCRe, Theorems 3.2 and 3.3)";
    project.data.source = LinearRegression{.dim = 4, .samples = 4, .target = LinearTarget::Diagonal};
    project.stack().width = 4;
    project.network.blocks.push_back(project.network.blocks.front());
    Block& first = project.network.blocks.back();
    first.name = "first";
    std::ranges::find(first.graph.nodes, "linear", &Node::kind)->params["start"] = 0.0;
    project.stack().segments = {{"first", 1}, {project.network.blocks.front().name, kDepth - 1}};
    project.initialisation.law = InitLaw::Identity;
    project.initialisation.scale = 0.5;
    project.training.steps = 2000;
    project.training.learningRate.peak = 0.2;
    project.training.observeEvery = 20;
    const SweepAxis starts = axisOf("/initialisation/scale", "start", {{"half", {"0.5"}}, {"small", {"0.002"}}});
    project.sweeps = {
        {"topologies", {starts, topologyAxis({"none", "cascaded", "0:1", "0:2", "0:3", "1:2+2:3", "ancre-ingoing"})}},
        {"depths",
         {axisOf("/network/stack/1/repeat", "layers", {{"3 layers", {"2"}}, {"4 layers", {"3"}}, {"5 layers", {"4"}}}),
          starts, topologyAxis({"none", "0:1", "0:L-1", "ancre-ingoing"})}},
    };
    return project;
}

/// Ten linear layers of rank 3 and targets of full rank (DeepCrossAttention, figure 1 and section 4).
Project lowRankRegression()
{
    Project project = vectorProject("Low-rank regression",
                                    "Ten layers of rank 3 learn a map of 100 features: a residual sum cannot let the "
                                    "input go, weights on the depth can (DeepCrossAttention, figure 1)",
                                    100, LowRankRegression{.rank = 100});
    // AdamW, because plain gradient descent does not reach the levels of section 4.
    project.sweeps = {
        {"section 4",
         {axisOf("/training/optimiser", "optimiser", {{"AdamW", {R"({"kind": "adamw", "weight_decay": 0})"}}}),
          axisOf("/training/learning_rate/peak", "rate", {{"0.005", {"0.005"}}}),
          topologyAxis({"plain", "grn-v1", "grn-v2", "grn-v3"})}},
    };
    project.network.objective = Objective::MeanSquaredError;
    stackOf(project.network, "low-rank-linear", 10);
    project.stack().topology = topologyNamed("grn-v1", project.network);
    project.initialisation.scale = 0.25;
    project.training.steps = 1000;
    project.training.batch = 100;
    project.training.optimiser = Sgd{.momentum = 0.0};
    project.training.learningRate = {1.0, 50, RateCurve::Cosine, 0.01};
    return project;
}

/// Figure 1 of DeepCrossAttention: plain gradient descent on (a) y = x and (b) y = A·x + b, with as many samples as
/// 1000 batches of 100 take, so that each batch is fresh. Start and rate, which the paper does not print, are those
/// under which each panel shows: a gradient of the identity is clipped, or GRN-v1 diverges at that rate.
Project regressionOfFigureOne()
{
    Project project = lowRankRegression();
    project.name = "DeepCrossAttention, figure 1";
    project.description =
        "Ten layers of rank 3 under plain gradient descent on fresh batches: the identity, and y = A·x + b with a "
        "random A (DeepCrossAttention, figure 1)";
    project.data.source =
        LowRankRegression{.rank = 100, .samples = 100'000, .target = LinearTarget::StandardNormal, .offset = true};
    project.data.validationFraction = 0;
    project.initialisation.scale = 0.1;
    project.training.learningRate = {0.01, 0, RateCurve::Constant, 1.0};
    project.training.clipNorm = 0;
    project.training.validateEvery = 0;
    project.sweeps = {
        {"figure 1",
         {axisOf(
              kSeveralFields, "target",
              {{"identity",
                {R"({"/data/source/target": "identity", "/data/source/offset": false, "/initialisation/scale": 0.25, )"
                 R"("/training/learning_rate/peak": 0.5, "/training/clip_norm": 1})"}},
               {"random",
                {R"({"/data/source/target": "standard_normal", "/data/source/offset": true, )"
                 R"("/initialisation/scale": 0.1, "/training/learning_rate/peak": 0.01, "/training/clip_norm": 0})"}}}),
          topologyAxis({"plain", "grn-v1"}), seedAxis()}},
    };
    return project;
}

/// Figure 2 of RaPTr: no layer is always kept, and a step trains 16 of 20 layers on average; PLD's curve has the same
/// average. The short baseline has the same FLOP. `fields` are set as well.
SweepAxis figureTwoAxis(const std::string& fields, std::int64_t steps)
{
    const std::int64_t fewer = steps * 4 / 5;
    const std::tuple<std::string, std::string, std::int64_t> members[] = {
        {"baseline", "none", steps},
        {"short baseline", "none", fewer},
        {"RaPTr", "raptr-free 8-12-16-20 average 16", steps},
        {"PLD", "pld 0.6", steps},
        {"stacking", "stacking 8-12-16-20 average 16", steps},
    };
    SweepAxis axis{kSeveralFields, "method", {}};
    for (const auto& [label, schedule, count] : members) {
        axis.values.push_back({label,
                               {"{" + fields + "\"/training/steps\": " + std::to_string(count) + ", \"/schedule\": \"" +
                                schedule + "\"}"}});
    }
    return axis;
}

/// The polynomial task of RaPTr (section 3, D.3).
Project booleanPolynomial()
{
    Project project = vectorProject(
        "Boolean polynomial", "A residual MLP of 20 layers learns a polynomial of degree 10 over ±1 (RaPTr, section 3)",
        100, BooleanPolynomial{});
    project.network.objective = Objective::MeanSquaredError;
    project.network.stem = linearGraph("d");
    project.network.head = linearGraph("out");
    stackOf(project.network, "mlp", 20);
    project.stack().topology = topologyNamed("plain", project.network);
    project.initialisation = {.law = InitLaw::KaimingNormal, .scale = 1.0, .scaleResidualByDepth = true};
    project.training.steps = 1500;
    project.training.batch = 128;
    project.training.optimiser = AdamW{.weightDecay = 0.0};
    project.training.learningRate = {1e-3, 100, RateCurve::Cosine, 0.1};
    project.training.validationBatches = 32; // all held-out samples
    const std::string small = "\"/data/source/dim\": 32, \"/data/source/variables\": 10, \"/data/source/degree\": 5, "
                              "\"/data/source/terms_per_degree\": 8, \"/network/width\": 32, ";
    project.sweeps = {{"figure 2", {figureTwoAxis(small, 6000)}},
                      {"figure 2, the paper's size", {figureTwoAxis("", 20'000)}}};
    return project;
}

/// Twelve layers trained by RaPTr 6-8-10-12, and the methods that the paper compares with it.
Project stagedLanguage()
{
    constexpr std::int64_t kDepth = 12;
    Project project = languageProject("Staged language", "plain");
    project.description = "Twelve layers of which each step trains a part, more from stage to stage (RaPTr)";
    stackOf(project.network, "transformer", kDepth);
    project.stack().width = 96;
    project.training.steps = 400;
    project.training.learningRate.decay = RateDecay::InLastStage;
    project.stack().schedule = scheduleFrom("raptr 6-8-10-12", kDepth, project.training.steps).value();
    const std::vector<std::pair<std::string, std::string>> methods{
        {"baseline", "none"},         {"RaPTr", "raptr 6-8-10-12"},      {"stacking", "stacking 6-8-10-12"},
        {"LEMON", "lemon 6-8-10-12"}, {"bert2BERT", "bert2bert 3-6-12"}, {"MSG", "msg 6-8-10-12"},
        {"PLD", "pld 0.5"},
    };
    project.sweeps = {{"methods", {equalFlopAxis(project, methods), seedAxis()}},
                      {"equal steps", {scheduleAxis(methods)}}};
    std::ranges::move(raptrStudies(), std::back_inserter(project.sweeps));
    return project;
}

/// Every initialisation of factored weights, each with three seeds.
std::vector<SweepAxis> initialisationAxes()
{
    SweepAxis methods{"/initialisation/low_rank", "start", {}};
    for (const char* const method : {"baseline", "spectral", "lfai", "lfai_ws", "relu_svd", "exact"}) {
        methods.values.push_back({method, {"\"" + std::string(method) + "\""}});
    }
    return {methods, seedAxis()};
}

/// Four transformer layers with weights in two factors (NLRA, section 4).
Project lowRankLanguage()
{
    Project project = languageProject("Low-rank language", "plain");
    project.description = "A small language model whose blocks' weights are of a tenth or a quarter of full rank, and "
                          "six ways to start their factors (NLRA)";
    stackOf(project.network, "transformer", 4);
    project.stack().width = 64;
    project.network.rank = RankScale{0.25};
    project.initialisation = {.law = InitLaw::TruncatedNormal, .scale = 1, .lowRank = LowRankMethod::Exact};
    project.training.steps = 200;
    project.training.learningRate = {4e-3, 30, RateCurve::Cosine, 0.1};
    std::vector<SweepAxis> axes = initialisationAxes();
    axes.insert(axes.begin(), axisOf("/network/rank/scale", "rank scale", {{"0.1", {"0.1"}}, {"0.25", {"0.25"}}}));
    project.sweeps = {{"initialisations", std::move(axes)}};
    return project;
}

/// Wide ReLU layers at a small rank, where the spectral initialisation leaves a large error (NLRA, corollary 3.7).
Project wideRelu()
{
    Project project =
        vectorProject("Wide ReLU",
                      "An MLP with eight times as many hidden features as inputs at a tenth of full "
                      "rank: how far factors are from the full layer's function (NLRA, section 3)",
                      48, BooleanPolynomial{.dim = 32, .variables = 10, .degree = 4, .termsPerDegree = 8});
    project.network.objective = Objective::MeanSquaredError;
    project.network.stem = linearGraph("d");
    project.network.head = linearGraph("out");
    stackOf(project.network, "mlp", 4);
    for (Node& node : project.network.blocks.front().graph.nodes) {
        if (node.name == "up") {
            node.params["out"] = std::string("8*d");
        }
    }
    project.stack().topology = topologyNamed("plain", project.network);
    project.network.rank = RankScale{0.1};
    project.initialisation = {.law = InitLaw::TruncatedNormal, .scale = 1, .lowRank = LowRankMethod::Exact};
    project.training.steps = 2000;
    project.training.batch = 128;
    project.training.optimiser = AdamW{.weightDecay = 0.0};
    project.training.learningRate = {2e-3, 50, RateCurve::Cosine, 0.1};
    // Figure 2 of NLRA: LFAI-WS stopped after these epochs, and the training that follows.
    SweepAxis epochs{kSeveralFields, "epochs of LFAI-WS", {}};
    for (const char* const count : {"0", "1", "2", "6"}) {
        epochs.values.push_back({count,
                                 {R"({"/initialisation/low_rank": "lfai_ws", "/initialisation/low_rank_epochs": )" +
                                  std::string(count) + "}"}});
    }
    project.sweeps = {{"initialisations", initialisationAxes()}, {"figure 2", {std::move(epochs), seedAxis()}}};
    return project;
}

/// A small vision transformer on generated pictures.
Project smallVit()
{
    Project project;
    project.name = "Small ViT";
    project.description = "A vision transformer that tells which two parts a generated picture holds";
    project.data.source = DrawnPictures{};
    project.data.augmentation = {.padding = 2, .flip = true};
    project.stack().width = 64;
    project.network.objective = Objective::Classification;
    project.network.stem = patchStem(3, 32, 32);
    project.network.head = classHead("layer_norm");
    stackOf(project.network, "gpt", 6);
    project.network.blocks.front().graph = bidirectional(project.network.blocks.front().graph);
    project.stack().topology = topologyNamed("plain", project.network);
    project.training.steps = 2000;
    project.training.batch = 32;
    project.training.sequenceLength = 1;
    project.training.learningRate = {2e-3, 100, RateCurve::Cosine, 0.1};
    project.training.validateEvery = 100;
    project.training.checkpointEvery = 500;
    project.training.observeEvery = 20;
    project.sweeps = {{"DCA, table 8", {topologyAxis({"plain", "ancre-ingoing", "dca", "mhc"}), seedAxis()}}};
    return project;
}

/// A small BERT on the synthetic language, with the norms in front as RaPTr has them.
Project smallBert()
{
    Project project = languageProject("Small BERT", "plain");
    project.description = "An encoder of 8 layers that fills in hidden tokens of the synthetic language";
    project.network.objective = Objective::MaskedToken;
    project.network.stem = bertStem(project.training.sequenceLength);
    project.network.head = maskedHead();
    stackOf(project.network, "gpt", 8);
    project.network.blocks.front().graph = bidirectional(project.network.blocks.front().graph);
    project.training.steps = 2000;
    project.training.learningRate.warmupSteps = 100;
    project.training.validateEvery = 100;
    project.training.checkpointEvery = 500;
    project.training.observeEvery = 20;
    Project staged = project;
    staged.stack().schedule = scheduleFrom("raptr 4-5-7-8", staged.network.depth(), staged.training.steps).value();
    project.sweeps = {
        {"topologies", {topologyAxis({"plain", "ancre-ingoing", "dca", "mhc"}), seedAxis()}},
        {"RaPTr, tables 1 and 8",
         {equalFlopAxis(
              staged,
              {{"baseline", "none"}, {"RaPTr", "raptr 4-5-7-8"}, {"stacking", "stacking 4-5-7-8"}, {"PLD", "pld 0.5"}}),
          seedAxis()}},
    };
    return project;
}

std::vector<Example> makeExamples()
{
    std::vector<Example> result{
        {"plain-language", "Plain residual",
         "Language model, 8 layers, the residual sum everyone uses: draw a shortcut into it",
         languageProject("Plain residual", "plain")},
        {"ancre-language", "Learned shortcuts", "The same language model with ANCRe: watch the shortcuts being learned",
         ancreLanguage()},
        {"grn-language", "GRN-v1", "The same language model with a weight on every earlier branch", grnLanguage()},
        {"dca-language", "DeepCrossAttention",
         "The same language model whose queries, keys and values read mixes of their own", dcaLanguage()},
        {"linear-ancre", "Linear network", "Three matrices, full batch: how topology alone changes convergence",
         linearAncre()},
        {"ancre-case-study", "ANCRe case study", "Where one shortcut sits: measured losses and the theorems' bounds",
         ancreCaseStudy()},
        {"low-rank-regression", "Low-rank regression", "Ten linear layers of rank 3 and a target of full rank",
         lowRankRegression()},
        {"dca-figure-1", "DCA, figure 1", "Plain gradient descent: a residual sum against learned weights on the depth",
         regressionOfFigureOne()},
        {"boolean-polynomial", "Boolean polynomial", "A 20-layer residual MLP, degree by degree", booleanPolynomial()},
        {"staged-language", "Staged training", "RaPTr: random parts of 12 layers first, all of them at the end",
         stagedLanguage()},
        {"low-rank-language", "Low-rank language",
         "Weights in two thin factors, and six ways to start them (NLRA): train its sweep", lowRankLanguage()},
        {"wide-relu", "Wide ReLU", "Where a low-rank start that knows of the ReLU is nearest to the full layer",
         wideRelu()},
        {"small-vit", "Small ViT", "Vision transformer on generated pictures: which two of five parts does it see?",
         smallVit()},
        {"small-bert", "Small BERT", "Encoder that fills in hidden tokens: what stands on both sides decides",
         smallBert()},
    };
    return result;
}

} // namespace

const std::vector<Example>& examples()
{
    static const std::vector<Example> all = makeExamples();
    return all;
}

const Example* findExample(const std::string& name)
{
    const auto found = std::ranges::find(examples(), name, &Example::name);
    return found == examples().end() ? nullptr : &*found;
}

} // namespace residua::projects
