// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/graph_program.h"

#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/recompute.h"
#include "projects/base/mapped.h"
#include "projects/nodes/resolved_graph.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <tuple>

namespace residua::engine {

using projects::Node;
using projects::NodeId;
using projects::NodeRole;
using projects::PortRef;
using projects::ResolvedGraph;
using projects::ResolvedNode;
using projects::Shape;
using projects::Wire;

/// Multiplies one node's output by the factor of the layer.
class LayerFactorOperator final : public Operator {
public:
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass&) const override
    {
        const double factor = in.layer().factor;
        return factor == 1 ? in[0] : in[0] * factor;
    }
};

class GraphCompiler {
public:
    GraphCompiler(const projects::Graph& graph, const GraphSetting& setting) : m_graph(graph), m_setting(setting) {}

    Result<GraphProgram> run()
    {
        const ResolvedGraph resolved =
            projects::resolveGraph(m_graph, m_setting.ref, m_setting.sizes, m_setting.entering, m_setting.fedByPass);
        if (!resolved.errors.empty()) {
            return resolved.errors.begin()->second;
        }
        const std::size_t before = m_setting.plan.declared().size();
        addInputs();
        for (const ResolvedNode& node : resolved.nodes) {
            RESIDUA_TRY(add(resolved, node));
        }
        joinMlps(resolved);
        for (const NodeId node : m_setting.scaled) {
            scale(node);
        }
        addOutputs(resolved);
        if (m_program.m_outputs.empty()) {
            return Error{projects::placeOf(m_setting.ref), "the graph has no output node"};
        }
        if (m_setting.halves) {
            m_program.m_attention = m_slots.at(m_setting.halves->attention);
            m_program.m_feedForward = m_slots.at(m_setting.halves->feedForward);
        }
        findTerms();
        std::vector<std::size_t> readAtEnd = m_program.m_outputs;
        if (m_program.m_sumsInput) {
            readAtEnd.insert(readAtEnd.end(), {m_program.m_base, m_program.m_last});
        }
        const std::size_t ends[] = {m_program.m_attention, m_program.m_feedForward};
        fuse(m_program.m_steps, readAtEnd, ends);
        markLastReaders(readAtEnd);
        const std::vector<at::Tensor>& declared = m_setting.plan.declared();
        m_program.m_parameters.assign(declared.begin() + static_cast<std::ptrdiff_t>(before), declared.end());
        return std::move(m_program);
    }

private:
    /// Assigns the first slots to input nodes in document order, followed by those that the pass feeds. A single input
    /// node gets the sum of two slots.
    void addInputs()
    {
        const auto isPort = [&](const Node& node) {
            return projects::roleOf(node) == NodeRole::GraphInput &&
                   !m_setting.fedByPass.contains(projects::graphPortOf(node));
        };
        m_program.m_sumsInput = !m_setting.ref.isStem() && std::ranges::count_if(m_graph.nodes, isPort) == 1;
        if (m_program.m_sumsInput) {
            m_shapes.assign(2, m_setting.entering);
        }
        for (const bool byPass : {false, true}) {
            for (const Node& node : m_graph.nodes) {
                const std::string port = projects::graphPortOf(node);
                const auto shape = m_setting.fedByPass.find(port);
                const bool isFed = shape != m_setting.fedByPass.end();
                if (projects::roleOf(node) == NodeRole::GraphInput && isFed == byPass) {
                    (byPass ? m_program.m_fedByPass : m_program.m_inputPorts).push_back(port);
                    if (byPass || !m_program.m_sumsInput) {
                        define(node.id, byPass ? shape->second : m_setting.entering);
                    }
                }
            }
        }
        if (m_program.m_sumsInput) {
            const std::size_t sum = define(std::ranges::find_if(m_graph.nodes, isPort)->id, m_setting.entering);
            m_program.m_steps.push_back({std::make_unique<AddOperator>(), {0, 1}, sum, {}});
        }
    }

    [[nodiscard]] const ProgramStep* sumOfTwo(std::size_t slot) const
    {
        const auto step = std::ranges::find(m_program.m_steps, slot, &ProgramStep::out);
        return step != m_program.m_steps.end() && addsTwo(*step->run, step->in) ? &*step : nullptr;
    }

    /// Finds the terms of the residual: input and branch, or input + a and f of a block with halves.
    void findTerms()
    {
        if (!m_program.m_sumsInput) {
            return;
        }
        m_program.m_base = m_program.m_steps.front().out;
        m_program.m_last = m_program.m_outputs.front();
        if (!m_setting.halves) {
            return;
        }
        const std::size_t site = m_slots.at(m_setting.halves->site);
        const ProgramStep* const middle = sumOfTwo(site);
        const ProgramStep* const branch = sumOfTwo(m_program.m_outputs.front());
        if (middle == nullptr || branch == nullptr || std::ranges::count(m_program.m_outputs, branch->out) != 1) {
            return;
        }
        const std::size_t a = middle->in[middle->in[0] == m_program.m_base ? 1 : 0];
        const bool isFirst = branch->in[0] == a;
        const bool isRead = std::ranges::any_of(m_program.m_steps, [&](const ProgramStep& step) {
            return std::ranges::find(step.in, branch->out) != step.in.end();
        });
        if ((isFirst || branch->in[1] == a) && !isRead) {
            m_program.m_base = site;
            m_program.m_last = branch->in[isFirst ? 1 : 0];
            m_program.m_branchSum = branch->out;
        }
    }

    void addOutputs(const ResolvedGraph& resolved)
    {
        for (const projects::OutputPort& port : resolved.outputPorts) {
            m_program.m_outputPorts.push_back(port.name);
            m_program.m_outputs.push_back(m_outputs.at(port.node));
        }
        if (!resolved.outputPorts.empty()) {
            m_program.m_outputShape = resolved.outputPorts.front().shape;
        }
    }

    std::size_t define(NodeId node, const Shape& shape)
    {
        m_slots.emplace(node, m_shapes.size());
        m_shapes.push_back(shape);
        return m_shapes.size() - 1;
    }

    Status add(const ResolvedGraph& graph, const ResolvedNode& node)
    {
        const auto slots = mapped(node.feeds, [&](const PortRef& feed) { return m_slots.at(feed.node); });
        switch (node.kind->traits.role) {
        case NodeRole::GraphInput:
            return Done{};
        case NodeRole::GraphOutput:
            m_outputs.emplace(node.id, slots.front());
            return Done{};
        default:
            return build(graph, node, slots);
        }
    }

    Status build(const ResolvedGraph& graph, const ResolvedNode& resolved, const std::vector<std::size_t>& slots)
    {
        const Node& node = *m_graph.find(resolved.id);
        const auto fail = [&](const Error& error) {
            return Error{projects::placeOf(m_setting.ref, node),
                         (error.place.empty() ? "" : error.place + ": ") + error.message};
        };
        const NodeBuilder builder = findNodeBuilder(node.kind);
        if (!builder) {
            return fail({"", "the engine cannot run nodes of kind " + node.kind});
        }
        const NodeContext context{.node = node,
                                  .params = resolved.params,
                                  .inputs = resolved.in,
                                  .slots = slots,
                                  .place = projects::placeOf(m_setting.ref, node),
                                  .graphPrefix = m_setting.prefix,
                                  .writesResidual = m_setting.residualWriters.contains(node.id),
                                  .follows = projects::activationAfter(m_graph, graph, node.id),
                                  .startFactor = m_setting.startFactor,
                                  .depth = m_setting.depth,
                                  .adapters = m_setting.adapters,
                                  .plan = m_setting.plan,
                                  .tied = node.id == m_setting.tiedNode ? m_setting.tied : at::Tensor(),
                                  .sharedNorms = m_norms,
                                  .rotaryTables = m_setting.rotaryTables};
        OperatorResult made = builder(context);
        if (!made) {
            return fail(made.error());
        }
        m_program.m_steps.push_back({std::move(*made), slots, define(node.id, resolved.out.front()), {}});
        return Done{};
    }

    /// Multiplies the node's output by the layer's factor for all its readers.
    void scale(NodeId node)
    {
        const std::size_t slot = m_slots.at(node);
        const std::size_t scaled = m_shapes.size();
        m_shapes.push_back(m_shapes[slot]);
        for (ProgramStep& step : m_program.m_steps) {
            std::ranges::replace(step.in, slot, scaled);
        }
        for (auto& [output, read] : m_outputs) {
            read = read == slot ? scaled : read;
        }
        const auto maker = std::ranges::find(m_program.m_steps, slot, &ProgramStep::out);
        ProgramStep step{std::make_unique<LayerFactorOperator>(), {slot}, scaled, {}};
        m_program.m_steps.insert(maker + 1, std::move(step));
        m_program.m_scalesInside = true;
    }

    /// Registers the sides of a block's MLPs on their linears. Must be called when all steps exist and none is fused.
    void joinMlps(const ResolvedGraph& resolved)
    {
        if (!m_setting.ref.isBlock()) {
            return;
        }
        const auto join = [&](NodeId node, MlpSide side, NodeId mlp) {
            const auto step = std::ranges::find(m_program.m_steps, m_slots.at(node), &ProgramStep::out);
            if (auto* const linear = dynamic_cast<LinearOperator*>(step->run.get())) {
                linear->joinMlp(side, static_cast<std::uint64_t>(mlp));
                divide(*linear);
            }
        };
        for (const projects::MlpNodes& mlp : projects::mlpsOf(resolved)) {
            for (const NodeId opener : mlp.openers) {
                join(opener, MlpSide::Opens, mlp.closer);
            }
            join(mlp.closer, MlpSide::Closes, mlp.closer);
        }
    }

    /// Registers which parts of its MLP the slices of a linear's parameters belong to, as it selects them.
    void divide(const LinearOperator& linear)
    {
        const Weight& weight = linear.weight();
        PartSlices parts{.of = PartSlices::Of::MlpParts, .dimension = 0, .count = 0, .node = linear.mlp()};
        if (linear.side() == MlpSide::Opens) {
            m_setting.plan.divide(weight.parameter(), parts);
            m_setting.plan.divide(linear.bias(), parts);
        } else {
            parts.dimension = 1;
            m_setting.plan.divide(weight.factored() ? weight.v : weight.whole, parts);
        }
        m_setting.plan.divide(weight.adapter(parts.dimension), parts);
    }

    void markLastReaders(std::span<const std::size_t> readAtEnd)
    {
        std::vector<bool> read(m_shapes.size(), false);
        for (const std::size_t slot : readAtEnd) {
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
    std::map<NodeId, std::size_t> m_slots;
    std::vector<Shape> m_shapes; ///< by slot
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
    return mapped(m_steps, [](const ProgramStep& step) { return step.run.get(); });
}

std::vector<at::Tensor> GraphProgram::runAll(std::span<const at::Tensor> inputs, const Pass& pass,
                                             projects::Activations activations, const LayerUse& layer)
{
    std::vector<at::Tensor> all(inputs.begin(), inputs.end());
    if (m_sumsInput) {
        all.insert(all.begin() + 1, at::Tensor());
    }
    return runOn(std::move(all), pass, activations, layer);
}

std::vector<at::Tensor> GraphProgram::runAll(const Residual& input, const Pass& pass, projects::Activations activations,
                                             const LayerUse& layer)
{
    return runOnSum(input, pass, activations, layer, Results::Outputs);
}

Residual GraphProgram::runOnResidual(const Residual& input, const Pass& pass, projects::Activations activations,
                                     const LayerUse& layer, at::Tensor* branch)
{
    const Results wanted = branch == nullptr ? Results::Residual : Results::ResidualAndBranch;
    const std::vector<at::Tensor> results = runOnSum(input, pass, activations, layer, wanted);
    if (branch != nullptr) {
        *branch = results[2];
    }
    return {results[0], results[1]};
}

std::vector<at::Tensor> GraphProgram::runOnSum(const Residual& input, const Pass& pass,
                                               projects::Activations activations, const LayerUse& layer,
                                               Results results)
{
    if (!m_sumsInput) {
        return runOn({input.sum()}, pass, activations, layer, results);
    }
    // A recomputation keeps its inputs, so it starts from the sum.
    if (activations == projects::Activations::Recompute) {
        return runOn({input.sum(), {}}, pass, activations, layer, results);
    }
    return runOn({input.x, input.branch}, pass, activations, layer, results);
}

std::vector<std::size_t> GraphProgram::slotsOf(Results results) const
{
    switch (results) {
    case Results::Residual:
        return {m_base, m_last};
    case Results::ResidualAndBranch:
        return {m_base, m_last, m_outputs.front()};
    case Results::Outputs:
        break;
    }
    return m_outputs;
}

std::vector<at::Tensor> GraphProgram::runOn(std::vector<at::Tensor> inputs, const Pass& pass,
                                            projects::Activations activations, const LayerUse& layer, Results results)
{
    for (const std::string& port : m_fedByPass) {
        const auto found = pass.inputs.find(port);
        TORCH_CHECK(found != pass.inputs.end(), "the pass does not feed the port ", port);
        inputs.push_back(found->second);
    }
    if (!at::GradMode::is_enabled()) {
        return runSteps(inputs, pass, layer, results);
    }
    // Inputs pass through an alias, which sums the gradients of all readers inside, as recomputation does. Without the
    // alias they would be added one by one to those of outside readers, so Keep and Recompute would differ in bits.
    // Ports with the same tensor share one alias, so that an operator can tell that they are equal.
    std::vector<at::Tensor> entering;
    for (const at::Tensor& input : inputs) {
        const auto same = std::ranges::find_if(inputs, [&](const at::Tensor& other) { return other.is_same(input); });
        const auto first = static_cast<std::size_t>(same - inputs.begin());
        if (first < entering.size()) {
            entering.push_back(entering[first]);
        } else {
            const bool hasOneReader = m_sumsInput && inputs[1].defined() && entering.size() < 2;
            const bool sums = input.requires_grad() && activations == projects::Activations::Keep && !hasOneReader;
            entering.push_back(sums ? at::alias(input) : input);
        }
    }
    if (activations == projects::Activations::Recompute) {
        return runRecomputed(
            [this, kept = pass.withoutLayers(), layer, results](std::span<const at::Tensor> again, RunOf of) mutable {
                kept.holdsBuffers |= of == RunOf::Backward;
                return runSteps(again, kept, layer, results);
            },
            entering, m_parameters, pass);
    }
    return runSteps(entering, pass, layer, results);
}

std::vector<at::Tensor> GraphProgram::runSteps(std::span<const at::Tensor> inputs, const Pass& pass,
                                               const LayerUse& layer, Results results)
{
    std::ranges::copy(inputs, m_slots.begin());
    for (const ProgramStep& step : m_steps) {
        if (step.second) {
            std::tie(m_slots[step.out], m_slots[*step.second]) =
                step.run->runBoth(Inputs(m_slots, step.in, layer), pass);
        } else if (step.out != m_branchSum || results != Results::Residual) {
            m_slots[step.out] = step.run->run(Inputs(m_slots, step.in, layer), pass);
        }
        if ((!layer.attention && step.out == m_attention) || (!layer.feedForward && step.out == m_feedForward)) {
            m_slots[step.out] = at::zeros_like(m_slots[step.out]);
        }
        for (const std::size_t slot : step.done) {
            m_slots[slot].reset();
        }
    }
    auto values = mapped(slotsOf(results), [&](const std::size_t slot) { return m_slots[slot]; });
    std::ranges::fill(m_slots, at::Tensor());
    return values;
}

} // namespace residua::engine
