// SPDX-License-Identifier: GPL-3.0-or-later
#include "pytorch_cases.h"

#include "network_harness.h"

#include "projects/library/presets.h"
#include "projects/nodes/graph_builder.h"
#include "projects/shipped/examples.h"
#include "tests/support/graph_text.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace residua::tests {

using projects::DepthMix;
using projects::GraphBuilder;
using projects::Project;

void PyTorchCases::add(std::string name, Project project, std::int64_t step)
{
    m_all.push_back({std::move(name), std::move(project), step});
}

void PyTorchCases::addTopologies()
{
    for (const projects::TopologyPreset& preset : projects::topologyPresets(kPyTorchDepth)) {
        const std::string& block = blockPresetFor(preset.wiring).name;
        add("topology-" + preset.name, tinyLanguage(block, preset.name, kPyTorchDepth));
    }
    for (const projects::BlockPreset& block : projects::blockPresets()) {
        if (block.name == projects::kFirstMuddBlock || block.readsImages) {
            continue; // is for layer 1 of one wiring alone, or for images
        }
        const bool isLanguage = block.name == "gpt" || block.name.starts_with("transformer");
        const std::string name = "block-" + block.name;
        if (block.name == "gpt" || (isLanguage && block.name != "transformer" && block.name != "transformer-qkv")) {
            add(name, tinyLanguage(block.name, "grn-v3", kPyTorchDepth));
        } else if (!isLanguage) {
            add(name, tinyVectors(block.name, "grn-v1", kPyTorchDepth));
        }
    }
}

void PyTorchCases::addConditions()
{
    std::set<projects::MixSites> sites;
    for (const projects::TopologyPreset& preset : projects::topologyPresets(kPyTorchDepth)) {
        if (sites.insert(projects::sitesOf(preset.wiring)).second) {
            add("conditions-" + preset.name, tinyClassifier(preset.name, kPyTorchDepth));
        }
    }
    Project bridged = tinyClassifier("ancre-ingoing", kPyTorchDepth);
    std::get<DepthMix>(bridged.stack().topology.wiring).sites = projects::MixSites::Ffn;
    add("conditions-ffn", std::move(bridged));
    add("conditions-value-residual", tinyClassifier("value-residual", kPyTorchDepth, true));
    Project smoothed = tinyClassifier("plain", kPyTorchDepth, true);
    smoothed.network.labelSmoothing = 0.1;
    for (projects::Node& node : smoothed.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            node.params["causal"] = true;
            node.params["window"] = std::int64_t{2};
        }
    }
    add("conditions-window", smoothed);
    Project sentences = tinyLanguage("gpt", "ancre-ingoing", kPyTorchDepth);
    sentences.network.objective = projects::Objective::MaskedToken;
    sentences.network.head = projects::maskedHead();
    sentences.data.masking.nextSentence = true;
    sentences.network = projects::withNextSentence(std::move(sentences.network), true);
    add("next-sentence", std::move(sentences));
}

void PyTorchCases::addMixOptions()
{
    using Change = std::function<void(DepthMix&)>;
    const auto changed = [&](const std::string& name, const std::string& block, const std::string& topology,
                             const Change& change) {
        Project project = tinyLanguage(block, topology, kPyTorchDepth);
        change(std::get<DepthMix>(project.stack().topology.wiring));
        add("mix-" + name, std::move(project));
    };
    using namespace projects;
    changed("gate-inside", "transformer", "grn-v3", [](DepthMix& m) { m.gate.kind = GateKind::Inside; });
    changed("gate-normalised", "transformer-qkv", "dca", [](DepthMix& m) { m.gate.input = GateInput::Normalised; });
    changed("gate-zero", "transformer", "grn-v3", [](DepthMix& m) { m.gate.reluGradAtZero = ReluGradAtZero::Zero; });
    changed("gate-each", "transformer-qkv", "dca", [](DepthMix& m) { m.gate.vectors = GateVectors::PerEntry; });
    changed("gate-each-single", "transformer", "grn-v3", [](DepthMix& m) {
        m.gate.vectors = GateVectors::PerEntry;
        m.gate.kind = GateKind::Inside;
        m.states = {{{1, 3}, ShortcutState::Frozen}, {{0, 2}, ShortcutState::Pruned}};
    });
    changed("frozen-qkv", "transformer-qkv", "dca", [](DepthMix& m) { m.states = {{{1, 3}, ShortcutState::Frozen}}; });
    changed("frozen", "transformer", "ancre-ingoing", [](DepthMix& m) {
        m.states = {{{0, 3}, ShortcutState::Frozen}, {{1, 3}, ShortcutState::Pruned}};
    });
    changed("learned", "transformer", "ancre-fixed", [](DepthMix& m) {
        m.states = {{{0, 3}, ShortcutState::Learned}, {{0, 2}, ShortcutState::Learned}};
    });
    changed("learned-sum", "transformer", "plain", [](DepthMix& m) {
        m.states = {{{0, 3}, ShortcutState::Learned}, {{1, 5}, ShortcutState::Learned}};
    });
    changed("separate-norms", "transformer-qkv", "dca", [](DepthMix& m) { m.separateNorms = true; });
    changed("targets-qkv", "transformer-qkv", "dca", [](DepthMix& m) { m.normalise = NormaliseOver::Targets; });
    changed("sources-qkv", "transformer-qkv", "dca", [](DepthMix& m) {
        m.normalise = NormaliseOver::Sources;
        m.temperature = 0.7;
    });
    changed("full-qkv", "transformer-qkv", "dca", [](DepthMix& m) { m.entry = StackEntry::Full; });
    changed("no-final", "transformer", "grn-v2", [](DepthMix& m) { m.finalMix = false; });
    changed("groups", "transformer", "grn-v1", [](DepthMix& m) { m.blockLayers = 3; });
    changed("groups-no-final", "transformer", "grn-v1", [](DepthMix& m) {
        m.blockLayers = 2;
        m.finalMix = false;
    });
    changed("first-and-last", "transformer", "grn-v1", [](DepthMix& m) {
        m.sources = FirstAndLast{1};
        m.sites = MixSites::Both;
    });
    changed("last", "transformer", "grn-v1", [](DepthMix& m) { m.sources = FirstAndLast{2, EarlierEntries::Nothing}; });
    changed("first-and-last-groups", "transformer", "grn-v1", [](DepthMix& m) {
        m.sources = FirstAndLast{1};
        m.sites = MixSites::Both;
        m.blockLayers = 2;
    });
    for (const auto& [name, sites] : {std::pair("ffn", MixSites::Ffn), std::pair("both", MixSites::Both)}) {
        changed(std::string("sites-") + name, "transformer", "ancre-ingoing",
                [sites = sites](DepthMix& m) { m.sites = sites; });
        changed(std::string("sites-grn-") + name, "transformer", "grn-v3",
                [sites = sites](DepthMix& m) { m.sites = sites; });
    }
    changed("any-pairs", "transformer", "ancre-ingoing", [](DepthMix& m) {
        m.sites = MixSites::Both;
        m.sitePairs = SitePairs::Any;
    });
    changed("no-last", "transformer", "ancre-ingoing", [](DepthMix& m) { m.lastMix = false; });
    changed("no-last-both", "transformer", "ancre-ingoing", [](DepthMix& m) {
        m.lastMix = false;
        m.sites = MixSites::Both;
    });
    changed("beside-branches", "transformer", "ancre-none", [](DepthMix& m) { m.entry = StackEntry::Branch; });
    changed("beside-final", "transformer", "ancre-ingoing", [](DepthMix& m) { m.finalMix = true; });
    changed("beside-features", "transformer", "ancre-outgoing", [](DepthMix& m) { m.weight = WeightKind::PerFeature; });
    changed("explicit", "transformer", "grn-v1", [](DepthMix& m) {
        m.sources = ExplicitSources{{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {2, 3}, {0, 4}, {3, 4}, {0, 5}, {4, 5}}};
    });
    changed("tsallis", "transformer", "ancre-ingoing", [](DepthMix& m) { m.tsallis = {2, 0.3}; });
    changed("shannon", "transformer", "ancre-ingoing", [](DepthMix& m) { m.tsallis = {1, 0.3}; });
    changed("mudd-softmax", "transformer-qkvr", "mudd", [](DepthMix& m) {
        m.normalise = NormaliseOver::Sources;
        m.temperature = 0.5;
    });
    changed("mudd-single", "transformer", "grn-v1", [](DepthMix& m) { m.weight = WeightKind::PerToken; });
    changed("attention-qkv", "transformer-qkv", "dca", [](DepthMix& m) {
        m.gate = {};
        m.weight = WeightKind::DepthAttention;
        m.normalise = NormaliseOver::Sources;
    });
    changed("denseformer-all", "transformer", "denseformer", [](DepthMix& m) {
        m.sources = Dilated{2, 2, DilatedReaders::All};
    });
    changed("denseformer-period", "transformer", "denseformer", [](DepthMix& m) {
        m.sources = Dilated{2, 2, DilatedReaders::OnPeriod};
    });
}

void PyTorchCases::addOtherWirings()
{
    using namespace projects;
    const auto streams = [&](const std::string& name, const std::string& topology,
                             const std::function<void(MultiStream&)>& change) {
        Project project = tinyLanguage("transformer", topology, kPyTorchDepth);
        change(std::get<MultiStream>(project.stack().topology.wiring));
        add("streams-" + name, std::move(project));
    };
    streams("rms", "hyper-dynamic", [](MultiStream& s) { s.norm = NormKind::Rms; });
    streams("mhc-static", "mhc", [](MultiStream& s) { s.weights = StreamWeights::Static; });
    streams("mhc-a6", "mhc", [](MultiStream& s) { s.start = StreamStartLaw::AppendixA6; });
    streams("mean", "hyper-static", [](MultiStream& s) { s.exit = StreamExit::Mean; });
    streams("head", "hyper-dynamic", [](MultiStream& s) { s.exit = StreamExit::Head; });
    streams("ihc-static", "ihc", [](MultiStream& s) {
        s.weights = StreamWeights::Static;
        s.exit = StreamExit::Sum;
    });
    streams("lite-static", "mhc-lite", [](MultiStream& s) { s.weights = StreamWeights::Static; });
    streams("lite-three", "mhc-lite", [](MultiStream& s) {
        s.streams = 3;
        s.exit = StreamExit::Head;
    });
    streams("fractions-rms", "frac-dynamic", [](MultiStream& s) {
        s.streams = 4;
        s.norm = NormKind::Rms;
        s.sites = MixSites::Ffn;
    });
    streams("ffn", "hyper-static", [](MultiStream& s) { s.sites = MixSites::Ffn; });
    streams("three", "mhc", [](MultiStream& s) {
        s.streams = 3;
        s.sites = MixSites::Mhsa;
    });
    for (const LaurelBound bound : {LaurelBound::None, LaurelBound::Softmax}) {
        Project project = tinyLanguage("transformer", "laurel-rw-lr-pa", kPyTorchDepth);
        std::get<BranchGate>(project.stack().topology.wiring).bound = bound;
        add("laurel-bound-" + std::to_string(static_cast<int>(bound)), std::move(project));
    }
    Project rezero = tinyLanguage("transformer", "rezero", kPyTorchDepth);
    std::get<BranchGate>(rezero.stack().topology.wiring).sites = MixSites::Ffn;
    add("rezero-ffn", std::move(rezero));
    Project normed = tinyLanguage("transformer-post-norm", "post-norm", kPyTorchDepth);
    std::get<BranchGate>(normed.stack().topology.wiring).norm = NormKind::Rms;
    std::get<BranchGate>(normed.stack().topology.wiring).sites = MixSites::Ffn;
    add("post-norm-ffn", std::move(normed));
}

void PyTorchCases::addSequenceKinds()
{
    Project project = tinyLanguage("transformer", "plain", 2);
    project.network.blocks[0].graph =
        GraphBuilder()
            .node("input", "input")
            .node("layer norm", "layer_norm", {{"bias", false}})
            .node("if", "layer_norm", {{"share", std::string("layer norm")}, {"epsilon", 1e-3}, {"bias", false}})
            .node("forward", "attention",
                  {{"heads", std::int64_t{4}},
                   {"kv_heads", std::int64_t{2}},
                   {"head_dim", std::int64_t{6}},
                   {"qk_norm", std::string("head")},
                   {"bias", std::string("all")},
                   {"causal", false},
                   {"rope_base", 500.0}})
            .node("conv", "conv1d", {{"groups", std::int64_t{2}}})
            .node("wide", "conv1d", {{"kernel", std::int64_t{4}}, {"causal", false}, {"bias", false}})
            .node("side", "concat")
            .node("down", "linear", {{"bias", true}})
            .node("tanh", "activation", {{"function", std::string("tanh")}})
            .node("same", "activation", {{"function", std::string("identity")}})
            .node("drop", "dropout", {{"rate", 0.0}})
            .node("2nd scale", "scale", {{"learned", std::string("per_feature")}, {"value", 0.5}})
            .node("third-scale", "scale", {{"learned", std::string("scalar")}, {"value", -2.0}})
            .node("half", "scale", {{"value", -0.5}})
            .node("times", "multiply")
            .node("formula", "expression",
                  {{"formula", std::string("max(a, 0.1, -b) * sigmoid(b)^2 - (a - (b - a)) / sqrt(1 + mean(b*b)) "
                                           "+ -a^2 * min(b, tanh(a)) * exp(-abs(a)) + gelu(b)*2/3 + 1e-3")}})
            .node("sum", "add")
            .node("output", "output")
            .wire("input", "layer norm")
            .wire("input", "if")
            .wire("layer norm", "forward.q")
            .wire("if", "forward.k")
            .wire("if", "forward.v")
            .wire("forward", "conv")
            .wire("layer norm", "wide")
            .wire("conv", "side.in1")
            .wire("wide", "side.in2")
            .wire("side", "down")
            .wire("down", "tanh")
            .wire("tanh", "same")
            .wire("same", "drop")
            .wire("drop", "2nd scale")
            .wire("2nd scale", "third-scale")
            .wire("third-scale", "half")
            .wire("half", "times.in1")
            .wire("forward", "times.in2")
            .wire("times", "formula.a")
            .wire("wide", "formula.b")
            .wire("formula", "sum.in1")
            .wire("half", "sum.in2")
            .wire("forward", "sum.in3")
            .wire("sum", "output")
            .build();
    project.network.stem = GraphBuilder()
                               .node("input", "input")
                               .node("embed", "token_embedding")
                               .node("waves", "sinusoidal_positions", {{"base", 50.0}})
                               .node("halves", "sinusoidal_positions", {{"waves", std::string("halves")}})
                               .node("places", "position_embedding")
                               .node("segment", "segment_embedding")
                               .node("output", "output")
                               .wire("input", "embed")
                               .wire("embed", "waves")
                               .wire("waves", "halves")
                               .wire("halves", "places")
                               .wire("places", "segment")
                               .wire("segment", "output")
                               .build();
    add("kinds-sequence", std::move(project));
    Project shared = tinyLanguage("transformer", "plain", 2);
    shared.network.blocks[0].graph =
        graphFrom("x input; n batch_norm momentum=0.2; l linear; class parameter features=d start=normal; "
                  "k parameter value=0.5; m multiply; e noise; z scale value=0.0; s add; y output; x > n; n > l; "
                  "l > m.in1; class > m.in2; l > e; e > z; m > s.in1; k > s.in2; z > s.in3; s > y");
    add("kinds-shared", shared);
    shared.network.stem = graphFrom("x input; e token_embedding; s scale value=0.5; y output; h output port=hint; "
                                    "x > e; e > y; e > s; s > h");
    shared.network.head = graphFrom("x input; v input port=network.hint; s add; l linear out=vocab; y output; "
                                    "x > s.in1; v > s.in2; s > l; l > y");
    shared.network.blocks[0].graph = graphFrom("x input; n batch_norm momentum=0.2; l linear; class parameter "
                                               "features=d start=normal; k parameter value=0.5; m multiply; s add; "
                                               "v input port=network.hint; y output; x > n; n > l; l > m.in1; class > "
                                               "m.in2; m > s.in1; k > s.in2; v > s.in3; s > y");
    add("kinds-values", shared);
    shared.stack().topology.wiring = topologyNamed("dca", 2).wiring;
    shared.network.blocks[0].graph = graphFrom("q input port=q; k input port=k; v input port=v; h input "
                                               "port=network.hint; s add; y output; q > s.in1; k > s.in2; v > s.in3; "
                                               "h > s.in4; s > y");
    add("kinds-values-qkv", std::move(shared));
}

void PyTorchCases::addImageKinds()
{
    Project image = tinyVectors("mlp", "grn-v1", 2);
    image.data.source = projects::LinearRegression{.dim = 16, .samples = 6};
    image.network.objective = projects::Objective::MeanSquaredError;
    image.network.stem =
        GraphBuilder()
            .node("input", "input")
            .node("image", "image",
                  {{"channels", std::int64_t{1}}, {"height", std::int64_t{4}}, {"width", std::int64_t{4}}})
            .node("conv", "conv2d", {{"out", std::int64_t{4}}, {"bias", true}, {"rank", std::int64_t{2}}})
            .node("sides", "conv2d",
                  {{"out", std::int64_t{4}},
                   {"kernel", std::int64_t{3}},
                   {"bias", true},
                   {"rank", std::int64_t{3}},
                   {"unfolding", std::string("by_side")}})
            .node("strided", "conv2d",
                  {{"out", std::int64_t{4}},
                   {"kernel", std::int64_t{2}},
                   {"stride", std::int64_t{2}},
                   {"padding", std::int64_t{0}},
                   {"groups", std::int64_t{2}}})
            .node("last", "features_last")
            .node("max", "pool2d",
                  {{"kernel", std::int64_t{3}},
                   {"stride", std::int64_t{1}},
                   {"padding", std::int64_t{1}},
                   {"layout", std::string("features_last")}})
            .node("depthwise", "conv2d",
                  {{"out", std::int64_t{4}}, {"groups", std::int64_t{4}}, {"layout", std::string("features_last")}})
            .node("average", "pool2d", {{"function", std::string("average")}, {"layout", std::string("features_last")}})
            .node("all", "mean_pool")
            .node("widen", "linear")
            .node("patches", "patchify", {{"patch", std::int64_t{1}}})
            .node("token", "class_token")
            .node("first", "first_token")
            .node("mean", "mean_pool")
            .node("pool", "add")
            .node("flat", "flatten")
            .node("project", "linear", {{"rank", 0.5}, {"bias", true}})
            .node("sum", "add")
            .node("output", "output")
            .wire("input", "image")
            .wire("image", "conv")
            .wire("conv", "sides")
            .wire("sides", "strided")
            .wire("strided", "patches")
            .wire("patches", "token")
            .wire("token", "first")
            .wire("token", "mean")
            .wire("first", "pool.in1")
            .wire("mean", "pool.in2")
            .wire("strided", "flat")
            .wire("strided", "last")
            .wire("last", "max")
            .wire("max", "depthwise")
            .wire("depthwise", "average")
            .wire("average", "all")
            .wire("all", "widen")
            .wire("widen", "sum.in3")
            .wire("flat", "project")
            .wire("pool", "sum.in1")
            .wire("project", "sum.in2")
            .wire("sum", "output")
            .build();
    image.network.head = GraphBuilder()
                             .node("input", "input")
                             .node("read", "linear", {{"out", std::string("out")}})
                             .node("output", "output")
                             .wire("input", "read")
                             .wire("read", "output")
                             .build();
    add("kinds-image", std::move(image));
    for (const char* const example : {"small-resnet", "small-efficientnet"}) {
        add(example, tinyPictures(example));
    }

    Project vit = tinyLanguage("gpt", "grn-v1", 2);
    vit.data.source = projects::DrawnPictures{.size = 8, .samples = 20};
    vit.network.objective = projects::Objective::Classification;
    vit.network.stem = projects::patchStem(3, 8, 8);
    for (projects::Node& node : vit.network.stem.nodes) {
        if (node.kind == "patchify") {
            node.params["patch"] = std::int64_t{2};
        } else if (node.kind == "position_embedding") {
            node.kind = "sinusoidal_positions";
            node.params = {{"columns", std::int64_t{4}}};
        }
    }
    vit.network.head = projects::classHead("layer_norm");
    vit.network.blocks.front().graph = projects::bidirectional(vit.network.blocks.front().graph);
    add("kinds-vit", std::move(vit));

    const projects::ImageSize size{3, 8, 8};
    Project dit = tinyLanguage("gpt", "ancre-ingoing", 2);
    dit.data.source = projects::DrawnPictures{.size = 8, .samples = 20};
    dit.network.objective = projects::Objective::Diffusion;
    dit.network.stem = projects::ditStem(size, 2);
    dit.network.blocks.front().graph = projects::ditBlock(2);
    dit.network.head = projects::ditHead(size, 2, dit.data.diffusion.learnsVariance);
    add("kinds-dit", std::move(dit));
}

void PyTorchCases::addAttentions()
{
    const char* const kinds[] = {
        "window=2",
        "window=3 kv_heads=1 bias=qkv",
        "qk_norm=all bias=all kv_heads=1 norm_eps=0.01",
        "rotary_share=0.5 head_dim=8 qk_norm=head",
        "rope_scaling=linear rope_factor=2.5 window=2",
        "rope_scaling=llama3 rope_original_length=16 rope_low_frequency=0.5 rope_high_frequency=2 head_dim=16",
        "rope_scaling=llama3 rope_original_length=8 rotary_share=0.5 head_dim=12 q_rank=2 bias=qkv",
        "weights=performer features=5 features_start=drawn kv_heads=1 qk_norm=head",
        "weights=performer features=3 features_start=drawn causal=false bias=all"};
    std::string nodes = "input input; act activation function=gelu_tanh; sum add; output output";
    std::string wires = "; act > sum.in1; input > act; sum > output";
    int count = 1;
    for (const char* const kind : kinds) {
        const std::string name = "a" + std::to_string(++count);
        nodes += "; " + name + " attention heads=2 " + kind;
        for (const char* const port : {".q", ".k", ".v"}) {
            wires.append("; input > ").append(name).append(port);
        }
        wires += "; " + name + " > sum.in" + std::to_string(count);
    }
    Project project = tinyLanguage("transformer", "grn-v1", 2);
    project.network.blocks[0].graph = graphFrom(nodes + wires);
    add("kinds-attention", std::move(project));

    Project performer = tinyLanguage("transformer", "plain", 2);
    for (projects::Node& node : performer.network.blocks[0].graph.nodes) {
        if (node.kind == "attention") {
            node.params["weights"] = std::string("performer");
            node.params["features"] = std::int64_t{6};
            node.params["features_start"] = std::string("drawn");
        }
    }
    add("performer", std::move(performer));
    m_all.back().time = 150; // several chunks
}

void PyTorchCases::addNetworks()
{
    using namespace projects;
    Project tied = tinyLanguage("transformer", "plain", 2);
    tied.network.tieHead = true;
    add("tied", tied);
    for (Node& node : tied.network.head.nodes) {
        if (node.kind == "linear") {
            node.params["bias"] = true;
        }
    }
    add("tied-bias", tied);

    Project thin = tinyLanguage("transformer", "ancre-ingoing", 3);
    thin.network.rank = RankScale{0.5};
    thin.training.factorDecay = FactorDecay::Product;
    std::get<DepthMix>(thin.stack().topology.wiring).tsallis = {2, 0.1};
    add("low-rank", std::move(thin));

    Project mixed = tinyVectors("mlp", "highway", 4);
    const auto& presets = blockPresets();
    const auto linear = std::ranges::find(presets, std::string("linear"), &BlockPreset::name);
    mixed.network.blocks.push_back({"lambda", "", linear->graph});
    mixed.network.stack().segments = {{"mlp", 2}, {"lambda", 1}, {"mlp", 1}};
    std::get<BranchGate>(mixed.stack().topology.wiring).sites = MixSites::Mhsa;
    add("two-blocks", std::move(mixed));
}

void PyTorchCases::addExamples()
{
    for (const projects::Example& example : projects::examples()) {
        Project project = example.project;
        if (std::ranges::any_of(project.towers,
                                [](const projects::Tower& tower) { return !tower.network.weights.empty(); })) {
            continue; // the code has no shared weights
        }
        removeDropout(project); // PyTorch draws other elements
        add("example-" + example.name, std::move(project), example.project.training.steps);
    }
}

} // namespace residua::tests
