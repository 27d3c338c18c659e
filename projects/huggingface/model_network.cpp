// SPDX-License-Identifier: GPL-3.0-or-later
// Builds a model from this program's nodes. The table of tensors (model_kinds.cpp) uses their names.
#include "projects/huggingface/model_network.h"

#include "projects/huggingface/model_kinds.h"
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
        const auto given = params.find(spec.name);
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
        if (!m_kind.normsAfter) {
            addNorm("norm_attention", "input");
        }
        m_graph.node("attention", "attention", attentionParams(m_model, m_kind, window));
        for (const char* const port : {"attention.q", "attention.k", "attention.v"}) {
            m_graph.wire(m_kind.normsAfter ? "input" : "norm_attention", port);
        }
        std::string attention = "attention";
        if (m_kind.normsAfter) {
            addNorm("norm_attention", attention);
            attention = "norm_attention";
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
        if (!m_kind.normsAfter) {
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
        if (!m_kind.normsAfter) {
            return "down";
        }
        addNorm("norm_ffn", "down");
        return "norm_ffn";
    }

    const KnownModel& m_model;
    const ModelKind& m_kind;
    GraphBuilder m_graph;
};

Graph stemOf(const KnownModel& model, const ModelKind& kind)
{
    GraphBuilder graph;
    graph.node("input", "input").node("embedding", "token_embedding").wire("input", "embedding");
    if (kind.learnedPositions) {
        graph.node("positions", "position_embedding", {{"length", model.positions}}).wire("embedding", "positions");
    }
    return graph.node("output", "output").wire(kind.learnedPositions ? "positions" : "embedding", "output").build();
}

Graph headOf(const KnownModel& model, const ModelKind& kind)
{
    const char* const norm = kind.norm();
    return GraphBuilder()
        .node("input", "input")
        .node("norm", norm, differing(norm, {{"epsilon", model.epsilon}}))
        .node("logits", "linear", {{"out", text("vocab")}})
        .node("output", "output")
        .wire("input", "norm")
        .wire("norm", "logits")
        .wire("logits", "output")
        .build();
}

} // namespace

Network networkOf(const KnownModel& model)
{
    const ModelKind& kind = *findModelKind(model.kind);
    Network network;
    network.width = model.width;
    network.stem = stemOf(model, kind);
    network.head = headOf(model, kind);
    network.tieHead = model.tied;
    const std::int64_t fullLayers = model.window > 0 ? std::min(model.fullLayers, model.layers) : model.layers;
    if (fullLayers > 0) {
        network.blocks.push_back({model.kind, "", BlockWriter(model, kind).write(0)});
        network.stack.push_back({model.kind, fullLayers});
    }
    if (fullLayers < model.layers) {
        const std::string name = model.kind + (fullLayers > 0 ? "-window" : "");
        network.blocks.push_back({name, "", BlockWriter(model, kind).write(model.window)});
        network.stack.push_back({name, model.layers - fullLayers});
    }
    return network;
}

Project projectOf(const KnownModel& model, const std::string& name, const Source& source)
{
    constexpr std::int64_t kLongestSequence = 512; // short enough for a first step on a workstation
    Project project;
    project.name = name;
    project.data.source = source;
    project.network = networkOf(model);
    project.training.sequenceLength = std::min(model.positions, kLongestSequence);
    project.training.batch = 4;
    project.training.learningRate = {2e-5, 50, RateCurve::Cosine, 0.1};
    return project;
}

} // namespace residua::projects
