// SPDX-License-Identifier: GPL-3.0-or-later
// The diffusion transformer (Peebles and Xie, 2023). Its stem makes one vector of step and class, the value
// "network.condition", from which every layer and the head compute a shift, a scale and a gate of their own
// (adaLN-Zero).
#include "projects/library/presets.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/graph_builder.h"
#include "projects/nodes/node_kinds.h"

#include <string>

namespace residua::projects {
namespace {

constexpr const char* kCondition = "condition";
constexpr const char* kConditionValue = "network.condition";
constexpr const char* kModulate = "x * (1 + scale) + shift";

/// Adds `parts` vectors that depend on the condition and are 0 at the start, as slices of the node "modulation".
GraphBuilder withModulation(GraphBuilder graph, std::int64_t parts)
{
    return graph.node(kCondition, "input", {{kPortParam, std::string(kConditionValue)}})
        .then("silu", "activation", {{"function", std::string("silu")}})
        .then("modulation", "linear", {{"out", std::to_string(parts) + "*d"}, {"bias", true}, {"start", 0.0}});
}

/// Adds the slice number `part` of the modulation.
void addPart(GraphBuilder& graph, const std::string& name, std::int64_t part)
{
    const ParamValue first = part == 0 ? ParamValue(std::int64_t{0}) : ParamValue(std::to_string(part) + "*d");
    graph.node(name, "slice", {{"first", first}}).wire("modulation", name);
}

/// Adds the norm of the node `read`, shifted and scaled. The names of its nodes end in `half`.
void addModulated(GraphBuilder& graph, const std::string& read, const std::string& half)
{
    graph.node("norm" + half, "layer_norm", {{"epsilon", 1e-6}, {"affine", false}})
        .node("modulated" + half, "expression", {{"formula", std::string(kModulate)}})
        .wire(read, "norm" + half)
        .wire("norm" + half, "modulated" + half + ".x")
        .wire("scale" + half, "modulated" + half + ".scale")
        .wire("shift" + half, "modulated" + half + ".shift");
}

} // namespace

Graph ditStem(const ImageSize& image, std::int64_t patch)
{
    return GraphBuilder::fromInput()
        .then("image", "image", {{"channels", image.channels}, {"height", image.height}, {"width", image.width}})
        .then("patches", "patchify", {{"patch", patch}})
        .then("positions", "sinusoidal_positions",
              {{kColumnsParam, image.width / patch}, {kLastWaveParam, std::string(kLastWaveBefore)}})
        .then("output", "output")
        .node("step", "input", {{kPortParam, std::string(kTimestep)}})
        .then("waves", "step_embedding")
        .then("step_up", "linear", {{"bias", true}})
        .then("step_silu", "activation", {{"function", std::string("silu")}})
        .then("step_down", "linear", {{"bias", true}})
        .node("label", "input", {{kPortParam, std::string(kClass)}})
        .then("classes", "token_embedding", {{"vocab", std::string("classes")}})
        .node("sum", "add")
        .wire("step_down", "sum.in1")
        .wire("classes", "sum.in2")
        .node("position", "one_position")
        .wire("sum", "position")
        .node(kCondition, "output", {{kPortParam, std::string(kCondition)}})
        .wire("position", kCondition)
        .build();
}

Graph ditBlock(std::int64_t heads)
{
    GraphBuilder graph = withModulation(GraphBuilder::fromInput(), 6);
    std::int64_t part = 0;
    for (const char* const half : {"_attention", "_ffn"}) {
        for (const char* const name : {"shift", "scale", "gate"}) {
            addPart(graph, std::string(name) + half, part++);
        }
    }
    addModulated(graph, "input", "_attention");
    graph
        .node("attention", "attention",
              {{"heads", heads}, {"bias", std::string("all")}, {"causal", false}, {"rope", false}})
        .wire("modulated_attention", "attention.q")
        .wire("modulated_attention", "attention.k")
        .wire("modulated_attention", "attention.v")
        .node("gated_attention", "multiply")
        .wire("attention", "gated_attention.in1")
        .wire("gate_attention", "gated_attention.in2")
        .node("add_attention", "add")
        .wire("input", "add_attention.in1")
        .wire("gated_attention", "add_attention.in2");
    addModulated(graph, "add_attention", "_ffn");
    return graph.node("up", "linear", {{"out", std::string("4*d")}, {"bias", true}})
        .wire("modulated_ffn", "up")
        .then("gelu", "activation", {{"function", std::string("gelu_tanh")}})
        .then("down", "linear", {{"bias", true}})
        .node("gated_ffn", "multiply")
        .wire("down", "gated_ffn.in1")
        .wire("gate_ffn", "gated_ffn.in2")
        .node("branch", "add")
        .wire("gated_attention", "branch.in1")
        .wire("gated_ffn", "branch.in2")
        .node("output", "output")
        .wire("branch", "output")
        .build();
}

Graph ditHead(const ImageSize& image, std::int64_t patch, bool learnsVariance)
{
    GraphBuilder graph = withModulation(GraphBuilder::fromInput(), 2);
    addPart(graph, "shift", 0);
    addPart(graph, "scale", 1);
    addModulated(graph, "input", "");
    const std::int64_t values = patch * patch * image.channels * (learnsVariance ? 2 : 1);
    return graph.node("values", "linear", {{"out", values}, {"bias", true}, {"start", 0.0}})
        .wire("modulated", "values")
        .then("image", "unpatchify", {{"patch", patch}, {"columns", image.width / patch}})
        .toOutput();
}

} // namespace residua::projects
