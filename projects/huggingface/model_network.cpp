// SPDX-License-Identifier: GPL-3.0-or-later
// Builds a model from this program's nodes. The table of tensors (model_kinds.cpp) uses their names.
#include "projects/huggingface/known_model.h"

#include "projects/huggingface/model_kinds.h"
#include "projects/library/presets.h"
#include "projects/model/data_source.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>

namespace residua::projects {
namespace {

using Params = std::map<std::string, ParamValue>;

std::string text(std::string_view value)
{
    return std::string(value);
}

/// Returns only the values that differ from the kind's defaults, as a document stores them.
Params differing(const std::string& kind, const Params& params)
{
    Params kept;
    for (const ParamSpec& spec : findNodeKind(kind)->params) {
        const auto given = params.find(spec.name());
        if (given != params.end() && given->second != spec.defaultValue) {
            kept.insert(*given);
        }
    }
    return kept;
}

Params attentionParams(const KnownModel& model, const ModelKind& kind, std::int64_t window)
{
    Params params = rotaryParams(model.rotary, model.rotaryShare);
    params["heads"] = model.heads;
    params["kv_heads"] = model.kvHeads == model.heads ? std::int64_t{0} : model.kvHeads;
    params["head_dim"] = model.headDim * model.heads == model.width ? std::int64_t{0} : model.headDim;
    params[kBiasParam] = text(wordOf(model.attentionBias));
    params[kQkNormParam] = text(wordOf(kind.qkNorm));
    params[kWindowParam] = window;
    params["causal"] = kind.task == ModelTask::NextToken;
    if (kind.qkNorm != QkNorm::None) {
        params["norm_eps"] = model.epsilon;
    }
    return differing("attention", params);
}

class BlockWriter {
public:
    BlockWriter(const KnownModel& model, const ModelKind& kind) : m_model(model), m_kind(kind) {}

    Graph write(std::int64_t window)
    {
        m_graph.node("input", "input");
        const bool readsNorm = m_kind.normsInputs();
        if (readsNorm) {
            addNorm("norm_attention", "input");
        }
        m_graph.node("attention", "attention", attentionParams(m_model, m_kind, window));
        for (const char* const port : {"attention.q", "attention.k", "attention.v"}) {
            m_graph.wire(readsNorm ? "norm_attention" : "input", port);
        }
        if (m_kind.norms == NormPlace::OwnSums) {
            return withOwnSums();
        }
        std::string attention = "attention";
        if (m_kind.normsOutputs()) {
            const std::string norm = readsNorm ? "norm_attention_out" : "norm_attention";
            addNorm(norm, attention);
            attention = norm;
        }
        if (!m_model.parallel) {
            m_graph.node("add_attention", "add")
                .wire("input", "add_attention.in1")
                .wire(attention, "add_attention.in2");
        }
        const std::string ffn = addFfn(m_model.parallel ? "input" : "add_attention");
        m_graph.node("branch", "add")
            .node("output", "output")
            .wire(attention, "branch.in1")
            .wire(ffn, "branch.in2")
            .wire("branch", "output");
        return m_graph.build();
    }

private:
    /// Finishes a block that returns the whole layer.
    Graph withOwnSums()
    {
        m_graph.node("add_attention", "add").wire("input", "add_attention.in1").wire("attention", "add_attention.in2");
        addNorm("norm_attention", "add_attention");
        m_graph.node("add_ffn", "add").wire("norm_attention", "add_ffn.in1");
        m_graph.wire(addFfn("norm_attention"), "add_ffn.in2");
        addNorm("norm_ffn", "add_ffn");
        return m_graph.node("output", "output").wire("norm_ffn", "output").build();
    }

    void addNorm(const std::string& name, const std::string& from)
    {
        const char* const norm = m_kind.norm();
        m_graph.node(name, norm, differing(norm, {{"epsilon", m_model.epsilon}})).wire(from, name);
    }

    void addLinear(const std::string& name, std::int64_t out)
    {
        const ParamValue features = out == m_model.width ? ParamValue(text("d")) : ParamValue(out);
        m_graph.node(name, "linear", differing("linear", {{"out", features}, {"bias", m_model.ffnBias}}));
    }

    /// Adds the FFN and returns the name of its output node.
    std::string addFfn(const std::string& from)
    {
        std::string read = from;
        if (m_kind.normsInputs()) {
            addNorm("norm_ffn", from);
            read = "norm_ffn";
        }
        if (m_kind.gated) {
            addLinear("gate", m_model.hidden);
            addLinear("up", m_model.hidden);
            m_graph.node("swiglu", "swiglu").wire(read, "gate").wire(read, "up");
            m_graph.wire("gate", "swiglu.gate").wire("up", "swiglu.up");
        } else {
            addLinear("up", m_model.hidden);
            m_graph.node("activation", "activation", differing("activation", {{"function", m_model.activation}}));
            m_graph.wire(read, "up").wire("up", "activation");
        }
        addLinear("down", m_model.width);
        m_graph.wire(m_kind.gated ? "swiglu" : "activation", "down");
        if (!m_kind.normsOutputs()) {
            return "down";
        }
        const std::string norm = m_kind.normsInputs() ? "norm_ffn_out" : "norm_ffn";
        addNorm(norm, "down");
        return norm;
    }

    const KnownModel& m_model;
    const ModelKind& m_kind;
    GraphBuilder m_graph;
};

/// A graph whose nodes follow one another. Each node that is added reads the last one.
class Chain {
public:
    Chain() { m_graph.node("input", "input"); }

    Chain& add(const std::string& name, const std::string& kind, const Params& params = {})
    {
        m_graph.node(name, kind, differing(kind, params)).wire(m_last, name);
        m_last = name;
        return *this;
    }
    /// Feeds the port `port` of the last node from the condition of that name.
    void addCondition(const std::string& port)
    {
        m_graph.node(port + "_port", "input", {{kPortParam, port}}).wire(port + "_port", m_last + "." + port);
    }
    [[nodiscard]] Graph build() { return m_graph.node("output", "output").wire(m_last, "output").build(); }

private:
    GraphBuilder m_graph;
    std::string m_last = "input";
};

Graph pictureStem(const PictureSizes& picture)
{
    return Chain()
        .add("image", "image", {{"channels", picture.channels}, {"height", picture.height}, {"width", picture.width}})
        .add("patches", "patchify", {{"patch", picture.patch}})
        .add("class_token", "class_token")
        .add("positions", "position_embedding", {{"length", picture.positions()}})
        .build();
}

Graph stemOf(const KnownModel& model, const ModelKind& kind, bool paired)
{
    if (kind.readsPictures()) {
        return pictureStem(model.picture);
    }
    Chain chain;
    chain.add("embedding", "token_embedding", model.embedding > 0 ? Params{{"dim", model.embedding}} : Params());
    if (!kind.rotates()) {
        chain.add("positions", "position_embedding", {{"length", model.positions}});
    }
    if (model.segments > 0) {
        chain.add("segments", "segment_embedding", {{"segments", model.segments}, {kPairedParam, paired}});
        if (paired) {
            chain.addCondition(kSegmentsPort);
        }
    }
    if (kind.hasBertStem()) {
        chain.add("norm", kind.norm(), {{"epsilon", model.epsilon}});
    }
    if (model.embedding > 0) {
        chain.add("mapping", "linear", {{"bias", true}});
    }
    return chain.build();
}

Graph headOf(const KnownModel& model, const ModelKind& kind)
{
    const Params epsilon{{"epsilon", model.epsilon}};
    Chain chain;
    switch (kind.task) {
    case ModelTask::NextToken:
        if (kind.looped != LoopedLayers::All) { // else the loop's norm is the last one
            chain.add("norm", kind.norm(), epsilon);
        }
        return chain.add("logits", "linear", {{"out", text("vocab")}}).build();
    case ModelTask::MaskedToken:
        return chain
            .add("dense", "linear",
                 model.embedding > 0 ? Params{{"out", model.embedding}, {"bias", true}} : Params{{"bias", true}})
            .add("activation", "activation", {{"function", model.activation}})
            .add("norm", kind.norm(), epsilon)
            .add("logits", "linear", {{"out", text("vocab")}, {"bias", true}})
            .build();
    case ModelTask::TextClass:
        chain.add("first", "first_token")
            .add("pooler", "linear", {{"bias", true}})
            .add("activation", "activation", {{"function", text("tanh")}});
        break;
    case ModelTask::PictureClass:
        chain.add("norm", kind.norm(), epsilon).add("first", "first_token");
        break;
    }
    return chain.add("classes", "linear", {{"out", text("out")}, {"bias", true}}).build();
}

Network networkOf(const KnownModel& model, const ModelKind& kind, const std::map<std::string, Shape>& conditions)
{
    Network network;
    network.stack().width = model.width;
    network.stem = stemOf(model, kind, conditions.contains(kSegmentsPort));
    network.head = headOf(model, kind);
    network.tieHead = model.tied;
    network.objective = objectiveOf(kind.task);
    const std::int64_t fullLayers = model.window > 0 ? std::min(model.fullLayers, model.layers) : model.layers;
    const auto addLayers = [&](const std::string& name, std::int64_t window, std::int64_t count) {
        const Graph block = BlockWriter(model, kind).write(window);
        network.blocks.push_back({name, "", conditions.contains(kMaskPort) ? withMask(block, kMaskPort) : block});
        network.stack().segments.push_back({name, count});
    };
    if (fullLayers > 0) {
        addLayers(model.kind, 0, fullLayers);
    }
    if (fullLayers < model.layers) {
        addLayers(model.kind + (fullLayers > 0 ? "-window" : ""), model.window, model.layers - fullLayers);
    }
    if (model.visits > 1) {
        const bool exits = kind.looped == LoopedLayers::All;
        network.stack().loops = {{.first = 1,
                                  .last = model.layers,
                                  .visits = model.visits,
                                  .norm = exits ? LoopNorm::Visits : LoopNorm::None,
                                  .exitGate = exits}};
        network.ownLoss = exits ? OwnLoss::Measured : OwnLoss::Trained;
    }
    return network;
}

/// Returns the mask token of a masked objective: that of the tokeniser or, of ids and bytes, the one of BERT's first
/// vocabularies.
std::int64_t maskTokenFor(const Source& source, std::int64_t vocabulary)
{
    constexpr std::int64_t kBertMask = 103;
    const Tokeniser* const tokeniser = tokeniserOf(source);
    return tokeniser != nullptr && hasModel(tokeniser->kind) ? Masking{}.token : std::min(kBertMask, vocabulary - 1);
}

} // namespace

std::int64_t trainedLength(const KnownModel& model)
{
    constexpr std::int64_t kLongestSequence = 512; // short enough for a first step on a workstation
    constexpr std::int64_t kLongestLabelled = 128; // each text is padded to it
    return std::min(model.positions, model.classes > 0 ? kLongestLabelled : kLongestSequence);
}

Project projectOf(const KnownModel& model, const std::string& name, const Source& source)
{
    const ModelKind& kind = *findModelKind(model.kind);
    Project project;
    project.name = name;
    project.data.source = source;
    project.network = networkOf(model, kind, examplesOf(project).conditions());
    if (kind.norms == NormPlace::Sums) {
        project.stack().topology = {"post-norm",
                                    BranchGate{.gate = BranchGateKind::PostNorm, .epsilon = model.epsilon}};
    }
    if (kind.norms == NormPlace::OwnSums) { // each layer is what its block returns
        const std::vector<TopologyPreset> presets = topologyPresets(project.network);
        const auto none = std::ranges::find(presets, std::string("none"), &TopologyPreset::name);
        project.stack().topology = {none->name, none->wiring};
    }
    if (kind.looped == LoopedLayers::All) { // which trains the exit gate with the network
        Loss& exits = project.losses.emplace_back();
        exits.name = "exits";
        exits.kind = LossKind::ExpectedExit;
    }
    if (kind.task == ModelTask::MaskedToken) {
        project.data.masking.token = maskTokenFor(source, model.vocabulary);
    }
    project.training.sequenceLength = trainedLength(model);
    project.training.batch = 4;
    project.training.learningRate = {2e-5, 50, RateCurve::Cosine, 0.1};
    return project;
}

} // namespace residua::projects
