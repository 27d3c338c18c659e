// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_program.h"

#include "engine/graph/node_builder.h"
#include "engine/graph/recompute.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <set>

namespace residua::engine {

using projects::Node;
using projects::NodeId;
using projects::PortRef;
using projects::Shape;
using projects::Wire;

namespace {

std::string placeOf(const projects::GraphRef& ref, const Node& node)
{
    const std::string prefix = "block:";
    return (ref.starts_with(prefix) ? "block " + ref.substr(prefix.size()) : ref) + " · node " + node.name;
}

/// Nodes from which every way out leads to an output through additions and dropout alone.
std::set<NodeId> residualWriters(const projects::Graph& graph, const std::vector<NodeId>& order)
{
    const auto passes = [](const std::string& kind) { return kind == "add" || kind == "dropout" || kind == "output"; };
    std::set<NodeId> writers;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        const bool reaches = std::ranges::any_of(graph.wires, [&](const Wire& wire) {
            const bool leads = wire.from.node == *id && passes(graph.find(wire.to.node)->kind);
            return leads && (graph.find(wire.to.node)->kind == "output" || writers.contains(wire.to.node));
        });
        if (reaches) {
            writers.insert(*id);
        }
    }
    return writers;
}

} // namespace

class GraphCompiler {
public:
    GraphCompiler(const projects::Graph& graph, const GraphSetting& setting) : m_graph(graph), m_setting(setting)
    {
        for (const Wire& wire : graph.wires) {
            m_feeds.emplace(wire.to, wire.from);
        }
    }

    Result<GraphProgram> run()
    {
        const Result<std::vector<NodeId>> order = projects::topologicalOrder(m_graph);
        if (!order) {
            return order.error();
        }
        m_writers = residualWriters(m_graph, *order);
        const std::size_t before = m_setting.plan.all().size();
        addInputs();
        for (const NodeId id : *order) {
            if (const Status added = add(*m_graph.find(id)); !added) {
                return added.error();
            }
        }
        addOutputs();
        if (m_program.m_outputs.empty()) {
            return Error{m_setting.ref, "the graph has no output node"};
        }
        fuse(m_program.m_steps, m_program.m_outputs);
        markLastReaders();
        const auto& all = m_setting.plan.all();
        for (std::size_t i = before; i < all.size(); ++i) {
            m_program.m_parameters.push_back(all[i].tensor);
        }
        return std::move(m_program);
    }

private:
    /// The graph's port that an input or output node stands for.
    static std::string portOf(const Node& node)
    {
        const auto port = node.params.find("port");
        const auto* const name = port == node.params.end() ? nullptr : std::get_if<std::string>(&port->second);
        return name ? *name : node.kind;
    }

    /// Input nodes take the first slots, in the order of the document; those that the pass feeds come after the others.
    void addInputs()
    {
        for (const bool byPass : {false, true}) {
            for (const Node& node : m_graph.nodes) {
                const std::string port = portOf(node);
                const auto shape = m_setting.fedByPass.find(port);
                if (node.kind == "input" && (shape != m_setting.fedByPass.end()) == byPass) {
                    (byPass ? m_program.m_fedByPass : m_program.m_inputPorts).push_back(port);
                    define(node, byPass ? shape->second : m_setting.entering);
                }
            }
        }
    }

    void addOutputs()
    {
        for (const bool first : {true, false}) {
            for (const Node& node : m_graph.nodes) {
                const std::string port = portOf(node);
                const auto slot = m_outputs.find(node.id);
                if (slot != m_outputs.end() && (port == "output") == first) {
                    m_program.m_outputs.push_back(slot->second);
                    m_program.m_outputPorts.push_back({port, m_shapes[slot->second]});
                }
            }
        }
    }

    std::size_t define(const Node& node, const Shape& shape)
    {
        m_slots.emplace(node.id, m_shapes.size());
        m_shapes.push_back(shape);
        return m_shapes.size() - 1;
    }

    Status add(const Node& node)
    {
        if (node.kind == "input") {
            return Done{};
        }
        const auto fail = [&](const Error& error) {
            return Error{placeOf(m_setting.ref, node), (error.place.empty() ? "" : error.place + ": ") + error.message};
        };
        std::vector<std::size_t> slots;
        std::vector<Shape> shapes;
        for (const std::string& port : projects::inputPortsOf(node, m_graph)) {
            const auto feed = m_feeds.find(PortRef{node.id, port});
            if (feed == m_feeds.end()) {
                return fail({"", "input " + port + " is not wired"});
            }
            slots.push_back(m_slots.at(feed->second.node));
            shapes.push_back(m_shapes[slots.back()]);
        }
        if (node.kind == "output") {
            m_outputs.emplace(node.id, slots.front());
            return Done{};
        }
        const Status built = build(node, slots, shapes);
        return built ? built : Status(fail(built.error()));
    }

    Status build(const Node& node, const std::vector<std::size_t>& slots, const std::vector<Shape>& shapes)
    {
        const projects::NodeKind* const kind = projects::findNodeKind(node.kind);
        const NodeBuilder builder = findNodeBuilder(node.kind);
        if (!kind || !builder) {
            return Error{"", "the engine cannot run nodes of kind " + node.kind};
        }
        const Result<projects::ParamMap> params = projects::evaluateParams(node, m_setting.sizes);
        if (!params) {
            return params.error();
        }
        const Result<std::vector<Shape>> out = kind->shapeRule(*params, shapes);
        if (!out) {
            return out.error();
        }
        const NodeContext context{.node = node,
                                  .params = *params,
                                  .inputs = shapes,
                                  .slots = slots,
                                  .graphPrefix = m_setting.prefix,
                                  .writesResidual = m_writers.contains(node.id),
                                  .follows = activationAfter(node),
                                  .plan = m_setting.plan,
                                  .tied = node.id == m_setting.tiedNode ? m_setting.tied : at::Tensor(),
                                  .sharedNorms = m_norms,
                                  .rotaryTables = m_setting.rotaryTables};
        OperatorResult made = builder(context);
        if (!made) {
            return made.error();
        }
        m_program.m_steps.push_back({std::move(*made), slots, define(node, out->front()), {}});
        return Done{};
    }

    /// The activation that every reader of the node's output applies to it; empty where there is no such one.
    [[nodiscard]] std::string activationAfter(const Node& node) const
    {
        std::set<std::string> functions;
        for (const Wire& wire : m_graph.wires) {
            if (wire.from.node == node.id) {
                functions.insert(activationOf(*m_graph.find(wire.to.node), wire.to.port));
            }
        }
        return functions.size() == 1 ? *functions.begin() : std::string();
    }

    /// What a node applies to the value at one of its ports before anything else.
    [[nodiscard]] std::string activationOf(const Node& node, const std::string& port) const
    {
        if (node.kind == "swiglu") {
            return port == "gate" ? "silu" : "";
        }
        const auto params = node.kind == "activation" ? projects::evaluateParams(node, m_setting.sizes)
                                                      : Result<projects::ParamMap>(projects::ParamMap());
        return params && params->contains("function") ? projects::paramText(*params, "function") : std::string();
    }

    void markLastReaders()
    {
        std::vector<bool> read(m_shapes.size(), false);
        for (const std::size_t slot : m_program.m_outputs) {
            read[slot] = true;
        }
        for (auto step = m_program.m_steps.rbegin(); step != m_program.m_steps.rend(); ++step) {
            for (const std::size_t slot : step->in) {
                if (!read[slot]) {
                    read[slot] = true;
                    step->done.push_back(slot);
                }
            }
        }
        m_program.m_slots.resize(m_shapes.size());
    }

    const projects::Graph& m_graph;
    const GraphSetting& m_setting;
    std::map<PortRef, PortRef> m_feeds;
    std::map<NodeId, std::size_t> m_slots;
    std::vector<Shape> m_shapes; ///< by slot
    std::set<NodeId> m_writers;
    std::map<std::string, std::vector<at::Tensor>> m_norms;
    std::map<NodeId, std::size_t> m_outputs; ///< the slot that each output node reads
    GraphProgram m_program;
};

Result<GraphProgram> GraphProgram::compile(const projects::Graph& graph, const GraphSetting& setting)
{
    return GraphCompiler(graph, setting).run();
}

std::vector<Operator*> GraphProgram::operators() const
{
    std::vector<Operator*> result;
    for (const ProgramStep& step : m_steps) {
        result.push_back(step.run.get());
    }
    return result;
}

std::vector<at::Tensor> GraphProgram::runAll(std::span<const at::Tensor> inputs, const Pass& pass,
                                             projects::Activations activations)
{
    if (!m_fedByPass.empty()) {
        std::vector<at::Tensor> all(inputs.begin(), inputs.end());
        for (const std::string& port : m_fedByPass) {
            const auto found = pass.inputs.find(port);
            TORCH_CHECK(found != pass.inputs.end(), "the pass does not feed the port ", port);
            all.push_back(found->second);
        }
        return runOn(all, pass, activations);
    }
    return runOn(inputs, pass, activations);
}

std::vector<at::Tensor> GraphProgram::runOn(std::span<const at::Tensor> inputs, const Pass& pass,
                                            projects::Activations activations)
{
    if (!at::GradMode::is_enabled()) {
        return runSteps(inputs, pass);
    }
    // What enters goes through an alias, at which the gradients of all readers inside are summed and leave as one, as
    // they leave a graph that is computed again. Without it they would meet those of readers outside one by one, and
    // Keep and Recompute would differ in the order of that sum, so in bits. Ports that are fed the same tensor share
    // one alias, so that an operator sees that they are the same.
    std::vector<at::Tensor> entering;
    for (const at::Tensor& input : inputs) {
        const auto same = std::ranges::find_if(inputs, [&](const at::Tensor& other) { return other.is_same(input); });
        const auto first = static_cast<std::size_t>(same - inputs.begin());
        if (first < entering.size()) {
            entering.push_back(entering[first]);
        } else {
            const bool sums = input.requires_grad() && activations == projects::Activations::Keep;
            entering.push_back(sums ? at::alias(input) : input);
        }
    }
    if (activations == projects::Activations::Recompute) {
        return runRecomputed([this, pass](std::span<const at::Tensor> again) { return runSteps(again, pass); },
                             entering, m_parameters, pass);
    }
    return runSteps(entering, pass);
}

std::vector<at::Tensor> GraphProgram::runSteps(std::span<const at::Tensor> inputs, const Pass& pass)
{
    std::ranges::copy(inputs, m_slots.begin());
    for (const ProgramStep& step : m_steps) {
        m_slots[step.out] = step.run->run(Inputs(m_slots, step.in), pass);
        for (const std::size_t slot : step.done) {
            m_slots[slot].reset();
        }
    }
    std::vector<at::Tensor> results;
    for (const std::size_t slot : m_outputs) {
        results.push_back(m_slots[slot]);
    }
    std::ranges::fill(m_slots, at::Tensor());
    return results;
}

} // namespace residua::engine
