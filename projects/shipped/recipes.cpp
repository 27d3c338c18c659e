// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/shipped/recipes.h"

#include "projects/library/presets.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"
#include "projects/shipped/examples.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace residua::projects {

void setParam(Graph& graph, const std::string& kind, const std::string& key, const ParamValue& value)
{
    for (Node& node : graph.nodes) {
        if (node.kind == kind) {
            node.params[key] = value;
        }
    }
}

void setHidden(Network& network, const ParamValue& hidden)
{
    for (Node& node : network.blocks.front().graph.nodes) {
        if (node.name == "gate" || node.name == "up") {
            node.params["out"] = hidden;
        }
    }
}

void readText(Project& project, std::int64_t vocabulary)
{
    project.data.source = JsonLinesData{
        .path = {}, .tokeniser = {.kind = TokeniserKind::TokenizerJson, .model = {}, .vocabulary = vocabulary}};
    project.network.stem = tokenStem();
    project.network.head = tokenHead();
    project.network.tieHead = false;
}

void setSteps(TrainingPlan& plan, std::int64_t length, std::int64_t sequences, std::int64_t batch, std::int64_t steps)
{
    plan.sequenceLength = length;
    plan.batch = batch;
    plan.accumulate = sequences / batch;
    plan.steps = steps;
}

Project sized(const std::string& block, std::int64_t depth, std::int64_t width, std::int64_t heads)
{
    Project project;
    Network& network = project.network;
    network.stack().width = width;
    const auto preset = std::ranges::find(blockPresets(), block, &BlockPreset::name);
    network.blocks = {{preset->name, preset->name, preset->graph}};
    network.stack().segments = {{preset->name, depth}};
    setParam(network.blocks.front().graph, "attention", "heads", heads);
    const std::vector<TopologyPreset> topologies = topologyPresets(network);
    project.stack().topology = {kPlainPreset,
                                std::ranges::find(topologies, kPlainPreset, &TopologyPreset::name)->wiring};
    project.training.precision = Precision::Bf16;
    return project;
}

namespace {

constexpr double kDropout = 0.1; ///< of LM1B's example in Flax and of BERT

/// Drops elements of the output of the node `name` while training.
void dropAfter(Graph& graph, const std::string& name)
{
    const NodeId read = std::ranges::find(graph.nodes, name, &Node::name)->id;
    insertAfter(graph, read, "drop_" + name, "dropout", {{"rate", kDropout}});
}

void setEpsilon(Network& network, double epsilon)
{
    for (Graph* const graph : {&network.stem, &network.blocks.front().graph, &network.head}) {
        setParam(*graph, "layer_norm", "epsilon", epsilon);
    }
}

/// Dropout where BERT and Flax's example of LM1B have it: on the attention's weights, after both halves, and after the
/// embedding, whose last node is `embedded`.
void dropEverywhere(Network& network, const std::string& embedded)
{
    Graph& block = network.blocks.front().graph;
    setParam(block, "attention", "dropout", kDropout);
    dropAfter(block, "attention");
    dropAfter(block, "down");
    dropAfter(network.stem, embedded);
}

/// Section 5 of DeepCrossAttention: the example of Flax for LM1B, whose defaults are the constants that are printed.
Recipe lm1b()
{
    constexpr std::int64_t kVocabulary = 30'000;
    constexpr double kUnitTable = 50; // the table then starts with a deviation of 1
    Project project = sized("gpt", 6, 512, 8);
    Network& network = project.network;
    project.data.source = TextData{{}, {.kind = TokeniserKind::SentencePiece, .model = {}, .vocabulary = kVocabulary}};
    network.stem = GraphBuilder::fromInput()
                       .then("embedding", "token_embedding", {{"start", kUnitTable}})
                       .then("positions", "sinusoidal_positions", {{kWavesParam, std::string(kWavesInHalves)}})
                       .toOutput();
    network.head = GraphBuilder::fromInput()
                       .then("norm", "layer_norm")
                       .then("logits", "linear", {{"out", std::string("vocab")}, {"bias", true}})
                       .toOutput();
    setParam(network.blocks.front().graph, "attention", "bias", std::string("none"));
    setParam(network.blocks.front().graph, "activation", "function", std::string("relu"));
    setEpsilon(network, 1e-6);
    dropEverywhere(network, "positions");
    dropAfter(network.blocks.front().graph, "gelu");
    project.data.documents = {.rows = DocumentRows::Packed, .lines = true};
    project.initialisation = {.law = InitLaw::XavierUniform, .scale = 1, .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    setSteps(plan, 128, 2048, 256, 500'000);
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .weightDecay = 0.1};
    plan.learningRate = {.peak = 0.0016, .warmupSteps = 1000, .curve = RateCurve::InverseSquareRoot};
    plan.clipNorm = 0;
    for (const char* const part : {"stem.*", "layers.*", "head.*"}) { // norms and biases too
        plan.groups.push_back({.names = part, .optimiser = plan.optimiser, .decay = GroupDecay::All});
    }
    return {"dca-lm1b",
            "DCA: LM1B",
            "6 layers of 512, 30,000 tokens, 500,000 steps of 2,048 (tables 4, 5, 7)",
            std::move(project),
            "dca",
            {},
            {"rows are planned once and drawn in another order in each epoch; Flax packs sentences as it shuffles them",
             "a sentence that is longer than a row continues in the next one; Flax leaves it out of training",
             "biases start at 0; Flax's with a deviation of 1e-6"}};
}

/// "Better plain ViT baselines" (Beyer et al., 2022): 12 layers, patches of 16 × 16. That of width 384 is table 8 of
/// DeepCrossAttention, the others have the widths of DeiT.
Recipe vit16(std::int64_t width, std::string name, std::string title, std::string topology)
{
    constexpr std::int64_t kSide = 224;
    constexpr std::int64_t kHeadWidth = 64;
    Project project = sized("gpt", 12, width, width / kHeadWidth);
    Network& network = project.network;
    project.data.source =
        PictureData{.path = {}, .validationPath = {}, .height = kSide, .width = kSide, .channels = 3, .classes = 1000};
    project.data.validationFraction = 0.01;
    project.data.augmentation = {.leastArea = 0.05, .flip = true, .operations = 2, .magnitude = 10, .mixup = 0.2};
    network.objective = Objective::Classification;
    network.stem = patchStem(3, kSide, kSide);
    for (Node& node : network.stem.nodes) {
        if (node.kind == "position_embedding") {
            node.kind = "sinusoidal_positions";
            node.params = {{"columns", kSide / 16}};
        }
    }
    network.head = pooledHead("mean_pool");
    std::ranges::find(network.head.nodes, "classes", &Node::name)->params["start"] = 0.0;
    Graph& block = network.blocks.front().graph;
    block = bidirectional(block);
    setParam(block, "activation", "function", std::string("gelu_tanh"));
    setEpsilon(network, 1e-6);
    project.initialisation = {.law = InitLaw::XavierUniform, .scale = 1, .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    setSteps(plan, 1, 1024, 256, 111'476); // 90 epochs of the first 99 % of ImageNet's training pictures
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weightDecay = 0.1};
    plan.learningRate = {.peak = 1e-3, .warmupSteps = 10'000, .curve = RateCurve::Cosine, .finalFraction = 0};
    const std::string of = topology == kPlainPreset ? "" : " (table 8)";
    return {std::move(name),
            std::move(title),
            "12 layers of " + std::to_string(width) +
                " on pictures of 224 × 224 in 1,000 classes, 90 epochs of ImageNet" + of,
            std::move(project),
            std::move(topology),
            {}};
}

/// The LLaMA runs of ANCRe (section 4.1): GaLore's configurations.
Recipe llama(const std::string& size, std::int64_t depth, std::int64_t width, std::int64_t heads, std::int64_t steps,
             double peak, std::int64_t micro)
{
    Project project = sized("transformer", depth, width, heads);
    readText(project, 32'000);
    project.data.documents = {.rows = DocumentRows::Single, .lines = true};
    project.initialisation.scaleResidualByDepth = false;
    TrainingPlan& plan = project.training;
    setSteps(plan, 256, 512, micro, steps);
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weightDecay = 0};
    plan.learningRate = {.peak = peak, .warmupSteps = steps / 10, .curve = RateCurve::Cosine, .finalFraction = 0.1};
    plan.clipNorm = 0;
    plan.residualPrecision = ResidualPrecision::Bf16;
    std::string lower = size;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c == 'M' ? 'm' : c == 'B' ? 'b' : c; });
    return {
        "ancre-llama-" + lower,
        "ANCRe: LLaMA-" + size,
        std::to_string(depth) + " layers of " + std::to_string(width) + ", 32,000 tokens, " +
            std::to_string(steps / 1000) + ",000 steps of 512 (tables 1 to 7)",
        std::move(project),
        "ancre-ingoing",
        {},
        {"a row has 256 targets, so that 257 tokens of a document are read; GaLore's have 255",
         "weights, gradients and moments are fp32, activations and the residual bf16; GaLore's runs have bf16 for all",
         "the perplexity is of the mean loss; GaLore's runs divide by one batch too many, which prints a lower one",
         "examples are drawn from the whole text; GaLore's runs stream C4 through a shuffle buffer"}};
}

/// BERT as RaPTr trains it (section 4): norms in front, masked tokens alone, the rate constant up to the last stage.
Recipe bert(const std::string& name, const std::string& title, std::int64_t depth, std::int64_t width,
            std::int64_t heads, std::int64_t batch, std::int64_t steps, const std::string& schedule)
{
    constexpr std::int64_t kPositions = 512;
    Project project = sized("gpt", depth, width, heads);
    Network& network = project.network;
    project.data.source = TextData{{}, {.kind = TokeniserKind::TokenizerJson, .model = {}, .vocabulary = 30'522}};
    network.objective = Objective::MaskedToken;
    network.stem = bertStem(kPositions);
    network.head = maskedHead();
    network.tieHead = true;
    network.blocks.front().graph = bidirectional(network.blocks.front().graph);
    setEpsilon(network, 1e-12);
    dropEverywhere(network, "norm");
    project.initialisation = {.law = InitLaw::TruncatedNormal, .scale = 0.02, .scaleResidualByDepth = false};
    TrainingPlan& plan = project.training;
    setSteps(plan, 128, batch, 64, steps);
    plan.optimiser = AdamW{.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-6, .weightDecay = 0.01};
    plan.learningRate = {.peak = 1e-4,
                         .warmupSteps = 10'000,
                         .curve = RateCurve::Linear,
                         .finalFraction = 0,
                         .decay = RateDecay::InLastStage};
    return {name,
            title,
            std::to_string(depth) + " layers of " + std::to_string(width) + " on Wikipedia and books, " +
                std::to_string(steps / 1000) + ",000 steps of " + std::to_string(batch) + " (tables 1, 8 to 10)",
            std::move(project),
            kPlainPreset,
            schedule};
}

/// UL2 as RaPTr trains it (section 4.3): a decoder of 1.6 billion weights. The paper does not print its widths.
Recipe ul2()
{
    Project project = sized("transformer", 24, 2048, 16);
    readText(project, 32'128);
    Network& network = project.network;
    network.objective = Objective::Denoising;
    network.tieHead = true;
    setHidden(network, std::string("4*d"));
    project.initialisation.scaleResidualByDepth = false;
    TrainingPlan& plan = project.training;
    setSteps(plan, 512, 512, 8, 400'000);
    plan.optimiser = Adafactor{};
    plan.learningRate = {.peak = 1e-2,
                         .warmupSteps = 10'000,
                         .curve = RateCurve::Cosine,
                         .finalFraction = 0.1,
                         .decay = RateDecay::InLastStage};
    plan.clipNorm = 0;
    return {
        "raptr-ul2",
        "RaPTr: UL2-1.6B",
        "24 layers of 2048, 32,128 tokens, 400,000 steps of 512 texts with hidden spans (tables 3, 5 to 7, 11)",
        std::move(project),
        kPlainPreset,
        "raptr 12-16-20-24 proportional full 30000",
        {"the paper prints 24 layers and 1.6 billion weights; widths, heads and rotary positions are chosen to fit",
         "the weights of the denoisers are 0.4, 0.4 and 0.2; neither paper prints theirs",
         "one source of text, if --data names one; the paper mixes Arxiv, C4, Github and Wikipedia by 9, 57, 17, 17"}};
}

} // namespace

const std::vector<Recipe>& recipes()
{
    static const std::vector<Recipe> all = [] {
        std::vector<Recipe> made{
            lm1b(),
            vit16(384, "dca-vit-s16", "DCA: ViT-S/16", "dca"),
            vit16(192, "vit-ti16", "ViT-Ti/16", kPlainPreset),
            vit16(768, "vit-b16", "ViT-B/16", kPlainPreset),
            llama("60M", 8, 512, 8, 10'000, 5e-3, 256),
            llama("130M", 12, 768, 12, 20'000, 1e-3, 128),
            llama("350M", 24, 1024, 16, 60'000, 1e-3, 64),
            llama("1B", 24, 2048, 32, 100'000, 5e-4, 16),
            {"small-bert",
             "Small BERT",
             "8 layers of 128 that fill in hidden tokens, on text of your own",
             exampleProject("small-bert"),
             kPlainPreset,
             {}},
            bert("raptr-bert-base", "RaPTr: BERT-Base", 12, 768, 12, 256, 675'000, "raptr 6-8-10-12"),
            bert("raptr-bert-large", "RaPTr: BERT-Large", 24, 1024, 16, 512, 625'000, "raptr 6-12-18-24"),
            ul2(),
        };
        std::ranges::move(ditRecipes(), std::back_inserter(made));
        std::ranges::move(resnetRecipes(), std::back_inserter(made));
        std::ranges::move(efficientNetRecipes(), std::back_inserter(made));
        std::ranges::move(loopedRecipes(), std::back_inserter(made));
        std::ranges::move(contrastiveRecipes(), std::back_inserter(made));
        return made;
    }();
    return all;
}

const Recipe* findRecipe(const std::string& name)
{
    const auto found = std::ranges::find(recipes(), name, &Recipe::name);
    return found == recipes().end() ? nullptr : &*found;
}

} // namespace residua::projects
