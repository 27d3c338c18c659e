// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/library/presets.h"

#include "projects/library/convolution_graph.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace residua::projects {
namespace {

std::string text(const char* value)
{
    return value;
}

/// LLaMA's 8/3 · d as ANCRe's runs round it: up to a multiple of 16 for widths up to 1024 (1376, 2048, 2736), down
/// beyond that (5461 at 2048).
constexpr const char* kSwigluHidden = "max(16*ceil(min(d, 1024)/6), floor(8*d/3))";

/// Connects one output to q, k and v of the attention.
void wireQkv(GraphBuilder& graph, const std::string& output)
{
    for (const char* const port : {"attention.q", "attention.k", "attention.v"}) {
        graph.wire(output, port);
    }
}

/// The nodes around the FFN of a block.
struct HalfNames {
    std::string residual = "input";
    std::string attention = "attention"; ///< the node whose output is added to the residual
    std::string before = "norm_ffn";     ///< the norm of the FFN's input; empty if it has none
    std::string after = {};              ///< the norm of the FFN's output; empty if it has none
};

/// Adds FFN(x) with SwiGLU and its norms, where x is the sum of the residual and the attention. The branch is the sum
/// of attention and FFN.
void addSwigluHalf(GraphBuilder& graph, const HalfNames& names = {})
{
    graph.node("add_attention", "add");
    if (!names.before.empty()) {
        graph.node(names.before, "rms_norm");
    }
    graph.node("gate", "linear", {{"out", text(kSwigluHidden)}})
        .node("up", "linear", {{"out", text(kSwigluHidden)}})
        .node("swiglu", "swiglu")
        .node("down", "linear");
    if (!names.after.empty()) {
        graph.node(names.after, "rms_norm");
    }
    graph.node("branch", "add")
        .node("output", "output")
        .wire(names.residual, "add_attention.in1")
        .wire(names.attention, "add_attention.in2");
    if (!names.before.empty()) {
        graph.wire("add_attention", names.before);
    }
    const std::string read = names.before.empty() ? "add_attention" : names.before;
    graph.wire(read, "gate")
        .wire(read, "up")
        .wire("gate", "swiglu.gate")
        .wire("up", "swiglu.up")
        .wire("swiglu", "down");
    if (!names.after.empty()) {
        graph.wire("down", names.after);
    }
    graph.wire(names.attention, "branch.in1")
        .wire(names.after.empty() ? "down" : names.after, "branch.in2")
        .wire("branch", "output");
}

Graph transformer()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("norm_attention", "rms_norm").node("attention", "attention").wire("input", "norm_attention");
    wireQkv(graph, "norm_attention");
    addSwigluHalf(graph);
    return graph.build();
}

/// Figure 4 of DeepCrossAttention: q, k and v have separate inputs and the same norm. The residual is q's mix, or a
/// port of its own if `residual` names one (MUDD).
Graph transformerQkv(const std::string& residual)
{
    GraphBuilder graph;
    for (const std::string port : {"q", "k", "v"}) {
        graph.node(port, "input", {{kPortParam, port}});
    }
    if (residual != "q") {
        graph.node(residual, "input", {{kPortParam, residual}});
    }
    graph.node("norm_q", "rms_norm")
        .node("norm_k", "rms_norm", {{kShareParam, text("norm_q")}})
        .node("norm_v", "rms_norm", {{kShareParam, text("norm_q")}})
        .node("attention", "attention",
              {{"qk_norm", text(residual == "q" ? "none" : "head")}}); // as in MUDD's released models
    for (const std::string port : {"q", "k", "v"}) {
        graph.wire(port, "norm_" + port).wire("norm_" + port, "attention." + port);
    }
    addSwigluHalf(graph, {.residual = residual});
    return graph.build();
}

/// The block of the first layer under MUDD. Every port reads the embedding, so q, k and v share one norm.
Graph transformerOneNorm()
{
    GraphBuilder graph;
    graph.node("q", "input", {{kPortParam, text("q")}})
        .node("residual", "input", {{kPortParam, text("residual")}})
        .node("norm_q", "rms_norm")
        .node("attention", "attention", {{"qk_norm", text("head")}})
        .wire("q", "norm_q");
    wireQkv(graph, "norm_q");
    addSwigluHalf(graph, {.residual = "residual"});
    return graph.build();
}

/// Adds two linear layers with biases and GELU after the node `read`. The branch is attention + FFN.
void addGeluHalf(GraphBuilder& graph, const std::string& read)
{
    graph.node("up", "linear", {{"out", text("4*d")}, {"bias", true}})
        .node("gelu", "activation", {{"function", text("gelu")}})
        .node("down", "linear", {{"bias", true}})
        .node("branch", "add")
        .node("output", "output")
        .wire(read, "up")
        .wire("up", "gelu")
        .wire("gelu", "down")
        .wire("attention", "branch.in1")
        .wire("down", "branch.in2")
        .wire("branch", "output");
}

Graph gpt()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("norm_attention", "layer_norm")
        .node("attention", "attention", {{"rope", false}, {"bias", text("all")}})
        .node("add_attention", "add")
        .node("norm_ffn", "layer_norm")
        .wire("input", "norm_attention");
    wireQkv(graph, "norm_attention");
    graph.wire("input", "add_attention.in1").wire("attention", "add_attention.in2").wire("add_attention", "norm_ffn");
    addGeluHalf(graph, "norm_ffn");
    return graph.build();
}

/// BERT's layer without its norms, which the topology applies after each half. Attention in both directions.
Graph withoutNorms()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("attention", "attention", {{"rope", false}, {"causal", false}, {"bias", text("all")}})
        .node("add_attention", "add");
    wireQkv(graph, "input");
    graph.wire("input", "add_attention.in1").wire("attention", "add_attention.in2");
    addGeluHalf(graph, "add_attention");
    return graph.build();
}

/// Both halves read the same input: f(h) = Attention(norm(h)) + FFN(norm(h)), each with a norm of its own.
Graph parallelTransformer()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("norm_attention", "layer_norm")
        .node("attention", "attention", {{"bias", text("all")}})
        .node("norm_ffn", "layer_norm")
        .wire("input", "norm_attention")
        .wire("input", "norm_ffn");
    wireQkv(graph, "norm_attention");
    addGeluHalf(graph, "norm_ffn");
    return graph.build();
}

/// Norms the output of each half and not its input: a = norm(Attention(h)), f(h) = a + norm(FFN(h + a)).
Graph normsAfter()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("attention", "attention", {{"qk_norm", text("all")}}).node("norm_attention", "rms_norm");
    wireQkv(graph, "input");
    graph.wire("attention", "norm_attention");
    addSwigluHalf(graph, {.attention = "norm_attention", .before = {}, .after = "norm_ffn"});
    return graph.build();
}

/// Norms the input and the output of each half: a = norm(Attention(norm(h))), f(h) = a + norm(FFN(norm(h + a))).
Graph sandwich()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    graph.node("norm_attention", "rms_norm")
        .node("attention", "attention")
        .node("norm_attention_out", "rms_norm")
        .wire("input", "norm_attention");
    wireQkv(graph, "norm_attention");
    graph.wire("attention", "norm_attention_out");
    addSwigluHalf(graph, {.attention = "norm_attention_out", .after = "norm_ffn_out"});
    return graph.build();
}

Graph mlp()
{
    return GraphBuilder::fromInput()
        .then("up", "linear", {{"out", text("4*d")}, {"bias", true}})
        .then("relu", "activation", {{"function", text("relu")}})
        .then("down", "linear", {{"bias", true}})
        .toOutput();
}

/// Four times swish(norm(W·x + b)): a block of the networks of contrastive reinforcement learning.
Graph normedMlp()
{
    GraphBuilder graph = GraphBuilder::fromInput();
    for (const std::string number : {"1", "2", "3", "4"}) {
        graph.then("linear_" + number, "linear", {{"bias", true}})
            .then("norm_" + number, "layer_norm", {{"epsilon", 1e-6}})
            .then("swish_" + number, "activation", {{"function", text("silu")}});
    }
    return graph.toOutput();
}

Graph single(const std::string& kind, std::map<std::string, ParamValue> params)
{
    return GraphBuilder::fromInput().then("weight", kind, std::move(params)).toOutput();
}

Graph bottleneck()
{
    const std::string narrow = "max(1, floor(d/4))";
    return GraphBuilder::fromInput()
        .then("reduce", "linear", {{"out", narrow}, {"bias", true}})
        .then("relu_reduce", "activation", {{"function", text("relu")}})
        .then("middle", "linear", {{"out", narrow}, {"bias", true}})
        .then("relu_middle", "activation", {{"function", text("relu")}})
        .then("expand", "linear", {{"bias", true}})
        .toOutput();
}

Graph mbConv()
{
    ConvolutionGraph graph;
    return addMbConv(graph, {}).end();
}

bool hasPorts(const Graph& graph, MixPorts ports)
{
    const std::vector<MixPort> fed = portsOf(ports);
    return std::ranges::count_if(graph.nodes, isFedByStack) == std::ssize(fed) &&
           (ports == MixPorts::Input ||
            std::ranges::all_of(fed, [&](MixPort port) { return hasInputPort(graph, port); }));
}

std::vector<BlockPreset> makeBlockPresets()
{
    return {
        {"transformer", "Transformer", "Pre-norm, RMS norm, rotary positions, SwiGLU (LLaMA)", transformer()},
        {"transformer-qkv", "Transformer with q, k, v",
         "The same with ports q, k and v that a topology feeds apart (DeepCrossAttention)", transformerQkv("q")},
        {"transformer-qkvr", "Transformer with q, k, v, residual", "The same with a residual port besides (MUDD)",
         transformerQkv("residual")},
        {kFirstMuddBlock, "Transformer with q, residual", "The first layer of MUDD: one norm before the attention",
         transformerOneNorm()},
        {"transformer-parallel", "Transformer, halves in parallel",
         "Attention and MLP read the same input, each by a layer norm of its own (GPT-NeoX, Pythia)",
         parallelTransformer()},
        {"transformer-norms-after", "Transformer, norms after",
         "RMS norms of what each half makes, and of queries and keys over all heads (OLMo 2)", normsAfter()},
        {"transformer-sandwich", "Transformer, norms before and after",
         "RMS norms of what each half reads and of what it makes (Huginn, Ouro)", sandwich()},
        {"gpt", "GPT", "Pre-norm, layer norm, GELU; positions are the stem's", gpt()},
        {"transformer-post-norm", "Transformer, post-norm",
         "No norms of its own, attention in both directions, GELU; for the topology post-norm (BERT)", withoutNorms()},
        {"mlp", "MLP", "Two linear layers, 4·d hidden features, ReLU (RaPTr, D.3)", mlp()},
        {"mlp-normed", "MLP, normed", "Four linear layers, each with layer norm and swish (ANCRe, figure 8)",
         normedMlp()},
        {"linear", "Linear", "One matrix (ANCRe, section 3)", single("linear", {})},
        {"low-rank-linear", "Low-rank linear", "One matrix of rank 3 (DeepCrossAttention, figure 1)",
         single("linear", {{"rank", std::int64_t{3}}})},
        {"bottleneck", "Bottleneck", "Down to d/4 features, across, and up again, with ReLU", bottleneck()},
        {"mbconv", "MBConv", "Of images: up to 6·d features, depthwise, excitation, and down again (EfficientNet)",
         mbConv(), true},
    };
}

void removeNode(Graph& graph, NodeId id)
{
    std::erase_if(graph.wires, [id](const Wire& wire) { return wire.from.node == id || wire.to.node == id; });
    std::erase_if(graph.nodes, [id](const Node& node) { return node.id == id; });
}

/// Returns a node without readers that is not a port of the graph; nullptr if every node has a reader.
const Node* unreadIn(const Graph& graph)
{
    const auto found = std::ranges::find_if(graph.nodes, [&](const Node& node) {
        const NodeRole role = roleOf(node);
        return role != NodeRole::GraphOutput && role != NodeRole::GraphInput &&
               std::ranges::none_of(graph.wires, [&](const Wire& wire) { return wire.from.node == node.id; });
    });
    return found == graph.nodes.end() ? nullptr : &*found;
}

/// Adds BERT's pooler and the two classes of the next sentence.
Graph withSentenceOutput(Graph head)
{
    const auto linear = std::ranges::find(head.nodes, NodeRole::Linear, [](const Node& node) { return roleOf(node); });
    const auto fed = std::ranges::find_if(
        head.wires, [&](const Wire& wire) { return linear != head.nodes.end() && wire.to.node == linear->id; });
    if (fed == head.wires.end()) {
        return head;
    }
    PortRef last = fed->from;
    const auto add = [&](const std::string& name, const std::string& kind, std::map<std::string, ParamValue> params) {
        std::string free = name;
        while (std::ranges::find(head.nodes, free, &Node::name) != head.nodes.end()) {
            free += "_";
        }
        const NodeId id = head.nextId();
        head.nodes.push_back({id, kind, free, std::move(params)});
        head.wires.push_back({last, {id, "in"}});
        last = {id, "out"};
    };
    add("first_token", "first_token", {});
    add("pooler", "linear", {{"bias", true}});
    add("pooled", "activation", {{"function", text("tanh")}});
    add(kNextSentence, "linear", {{"out", std::int64_t{2}}, {"bias", true}});
    add("next_sentence_output", "output", {{kPortParam, text(kNextSentence)}});
    std::ranges::sort(head.wires);
    return head;
}

} // namespace

Graph withMask(Graph graph, const std::string& field)
{
    Node mask{{}, "input", field, {{kPortParam, field}}};
    while (std::ranges::find(graph.nodes, mask.name, &Node::name) != graph.nodes.end()) {
        mask.name += "_";
    }
    std::vector<NodeId> readers;
    for (Node& node : graph.nodes) {
        const NodeKind* const kind = findNodeKind(node.kind);
        mask.id = std::max(mask.id, NodeId{static_cast<std::uint32_t>(node.id) + 1});
        if (kind && std::ranges::find(kind->params, kMaskedParam, &ParamSpec::key) != kind->params.end()) {
            node.params[kMaskedParam] = true;
            readers.push_back(node.id);
        }
    }
    for (const NodeId reader : readers) {
        graph.wires.push_back({{mask.id, "out"}, {reader, kMaskPort}});
    }
    if (!readers.empty()) {
        graph.nodes.push_back(std::move(mask));
        std::ranges::sort(graph.wires);
    }
    return graph;
}

Graph tokenStem()
{
    return GraphBuilder::fromInput().then("embedding", "token_embedding").toOutput();
}

Graph tokenHead()
{
    return GraphBuilder::fromInput()
        .then("norm", "rms_norm")
        .then("logits", "linear", {{"out", text("vocab")}})
        .toOutput();
}

Graph bertStem(std::int64_t length)
{
    return GraphBuilder::fromInput()
        .then("embedding", "token_embedding")
        .then("positions", "position_embedding", {{"length", length}})
        .then("norm", "layer_norm")
        .toOutput();
}

Graph maskedHead()
{
    return GraphBuilder::fromInput()
        .then("final_norm", "layer_norm")
        .then("dense", "linear", {{"bias", true}})
        .then("gelu", "activation", {{"function", text("gelu")}})
        .then("norm", "layer_norm")
        .then("logits", "linear", {{"out", text("vocab")}, {"bias", true}})
        .toOutput();
}

Graph pooledHead(const std::string& pool)
{
    return GraphBuilder::fromInput()
        .then("final_norm", "layer_norm")
        .then("pool", pool)
        .then("pooler", "linear", {{"bias", true}})
        .then("tanh", "activation", {{"function", text("tanh")}})
        .then("classes", "linear", {{"out", text("out")}, {"bias", true}})
        .toOutput();
}

Graph withSegments(Graph stem)
{
    NodeId segments{};
    for (Node& node : stem.nodes) {
        if (node.kind == "segment_embedding") {
            node.params[kPairedParam] = true;
            segments = node.id;
        }
    }
    if (segments == NodeId{}) {
        const auto tokens =
            std::ranges::find(stem.nodes, NodeRole::TokenEmbedding, [](const Node& node) { return roleOf(node); });
        if (tokens == stem.nodes.end()) {
            return stem;
        }
        segments = insertAfter(stem, tokens->id, "segment_embedding", "segment_embedding", {{kPairedParam, true}});
    }
    const NodeId input = stem.nextId();
    stem.nodes.push_back({input, "input", kSegmentsPort, {{kPortParam, text(kSegmentsPort)}}});
    stem.wires.push_back({{input, "out"}, {segments, kSegmentsPort}});
    std::ranges::sort(stem.wires);
    return stem;
}

Network withNextSentence(Network network, bool nextSentence)
{
    const auto at = [](Graph& graph, NodeRole role, const char* port) {
        return std::ranges::find_if(
            graph.nodes, [&](const Node& node) { return roleOf(node) == role && graphPortOf(node) == port; });
    };
    const bool paired = at(network.stem, NodeRole::GraphInput, kSegmentsPort) != network.stem.nodes.end();
    const bool predicts = at(network.head, NodeRole::GraphOutput, kNextSentence) != network.head.nodes.end();
    if (nextSentence) {
        network.stem = paired ? network.stem : withSegments(std::move(network.stem));
        network.head = predicts ? network.head : withSentenceOutput(std::move(network.head));
        return network;
    }
    if (paired) {
        for (Node& node : network.stem.nodes) {
            node.params.erase(kPairedParam);
        }
        removeNode(network.stem, at(network.stem, NodeRole::GraphInput, kSegmentsPort)->id);
    }
    if (predicts) {
        removeNode(network.head, at(network.head, NodeRole::GraphOutput, kNextSentence)->id);
        for (const Node* unread = unreadIn(network.head); unread != nullptr; unread = unreadIn(network.head)) {
            removeNode(network.head, unread->id);
        }
    }
    return network;
}

Graph patchStem(std::int64_t channels, std::int64_t height, std::int64_t width)
{
    constexpr std::int64_t kFewestPatches = 49;
    std::int64_t side = 16;
    while (side > 1 && (height % side != 0 || width % side != 0 || height / side * (width / side) < kFewestPatches)) {
        side /= 2;
    }
    return GraphBuilder::fromInput()
        .then("image", "image", {{"channels", channels}, {"height", height}, {"width", width}})
        .then("patches", "patchify", {{"patch", side}})
        .then("positions", "position_embedding", {{"length", height / side * (width / side)}})
        .toOutput();
}

Graph classHead(const std::string& norm)
{
    return GraphBuilder::fromInput()
        .then("norm", norm)
        .then("mean", "mean_pool")
        .then("classes", "linear", {{"out", std::string("out")}, {"bias", true}})
        .toOutput();
}

Graph bidirectional(Graph graph)
{
    for (Node& node : graph.nodes) {
        if (roleOf(node) == NodeRole::Attention) {
            node.params["causal"] = false;
        }
    }
    return graph;
}

const std::vector<BlockPreset>& blockPresets()
{
    static const std::vector<BlockPreset> presets = makeBlockPresets();
    return presets;
}

const BlockPreset& blockPresetFor(MixPorts ports)
{
    return *std::ranges::find_if(blockPresets(),
                                 [ports](const BlockPreset& each) { return hasPorts(each.graph, ports); });
}

const BlockPreset& blockPresetFor(const Wiring& wiring)
{
    const auto* const mix = std::get_if<DepthMix>(&wiring);
    return blockPresetFor(mix ? mix->ports : MixPorts::Input);
}

} // namespace residua::projects
