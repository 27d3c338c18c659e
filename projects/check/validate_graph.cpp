// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/real.h"
#include "projects/base/text.h"
#include "projects/check/problems.h"
#include "projects/depth/mix_port.h"
#include "projects/model/places.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/example_schema.h"
#include "projects/nodes/node_kinds.h"
#include "projects/nodes/resolved_graph.h"
#include "projects/nodes/towers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace residua::projects {
namespace {

/// True if factors are fitted with this activation. With other activations, they are computed by singular values.
bool isFitted(const std::string& activation)
{
    const Activation* const found = findActivation(activation);
    return activation.empty() || (found != nullptr && !found->fittedAs.empty());
}

/// Checks one graph of the project.
class GraphCheck {
public:
    GraphCheck(const Project& project, GraphRef ref, Shape expected, Problems& problems)
        : m_project(project),
          m_ref(std::move(ref)),
          m_graph(*findGraph(project, m_ref)),
          m_path(textOf(project, GraphPointer{m_ref})),
          m_expected(std::move(expected)),
          m_problems(problems)
    {
    }

    void run()
    {
        if (m_graph.nodes.empty()) {
            m_problems.error(m_path, placeOf(m_ref), "has no nodes");
            return;
        }
        checkNodes();
        if (!checkWires()) {
            return;
        }
        checkPorts();
        if (const auto order = topologicalOrder(m_graph); !order) {
            m_problems.error(m_path + "/wires", placeOf(m_ref), order.error().message);
            return;
        }
        checkShapes();
        checkSharedNorms();
        checkUse();
        checkSegments();
    }

private:
    std::string nodePath(std::size_t index) const { return textOf(m_project, {.graph = m_ref, .node = index}); }
    /// `node` is one of the graph's.
    std::string nodePath(const Node& node) const
    {
        return nodePath(static_cast<std::size_t>(&node - m_graph.nodes.data()));
    }

    void checkNodes()
    {
        std::set<NodeId> ids;
        std::set<std::string> names;
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const Node& node = m_graph.nodes[i];
            if (!ids.insert(node.id).second) {
                m_problems.error(nodePath(i) + "/id", placeOf(m_ref, node),
                                 "number " + std::to_string(static_cast<std::uint32_t>(node.id)) +
                                     " is taken by another node");
            }
            if (node.name.empty()) {
                m_problems.error(nodePath(i) + "/name", placeOf(m_ref), "a node of kind " + node.kind + " has no name");
            } else if (!names.insert(node.name).second) {
                m_problems.error(nodePath(i) + "/name", placeOf(m_ref, node), "the name is taken by another node");
            }
        }
    }

    /// Returns false if an end of a wire does not exist, so that shapes are not defined.
    bool checkWires()
    {
        bool sound = true;
        std::set<PortRef> fed;
        for (std::size_t i = 0; i < m_graph.wires.size(); ++i) {
            const Wire& wire = m_graph.wires[i];
            const std::string fault = faultOf(wire);
            const bool second = !fed.insert(wire.to).second;
            if (!fault.empty() || second) {
                m_problems.error(textOf(m_project, {.graph = m_ref, .wire = i}), placeOf(m_ref, m_graph, wire),
                                 fault.empty() ? "the input has another wire already" : fault);
                sound = false;
            }
        }
        return sound;
    }

    std::string faultOf(const Wire& wire) const
    {
        const Node* const from = m_graph.find(wire.from.node);
        const Node* const to = m_graph.find(wire.to.node);
        if (!from || !to) {
            return "there is no node " +
                   std::to_string(static_cast<std::uint32_t>(from ? wire.to.node : wire.from.node));
        }
        const NodeKind* const fromKind = findNodeKind(from->kind);
        if (fromKind && std::ranges::find(fromKind->outputs, wire.from.port) == fromKind->outputs.end()) {
            return from->kind + " has no output " + wire.from.port;
        }
        const std::vector<std::string> inputs = inputPortsOf(*to, m_graph);
        if (findNodeKind(to->kind) && std::ranges::find(inputs, wire.to.port) == inputs.end()) {
            return to->kind + " has no input " + wire.to.port;
        }
        return {};
    }

    std::vector<std::string> portsOf(NodeRole role) const
    {
        std::vector<std::string> ports;
        for (const Node& node : m_graph.nodes) {
            if (roleOf(node) == role) {
                ports.push_back(graphPortOf(node));
            }
        }
        std::ranges::sort(ports);
        return ports;
    }

    void checkPorts()
    {
        using Ports = std::vector<std::string>;
        Ports inputs = portsOf(NodeRole::GraphInput);
        Ports conditions;
        const Ports own = m_ref.isStem() ? furtherPorts(m_graph) : Ports();
        for (const auto& [name, shape] : conditionsOf(m_project)) {
            const auto isIt = [&, &value = name](const std::string& port) {
                return value == valueOf(m_project.network, port);
            };
            if (std::ranges::any_of(own, isIt)) {
                continue; // a stem does not read its own values
            }
            conditions.push_back(name);
            if (const auto found = std::ranges::find(inputs, name); found != inputs.end()) {
                inputs.erase(found); // a second node with this port is an error
            }
        }
        const bool isBlock = m_ref.isBlock();
        const auto areOf = [&inputs](MixPorts ports) {
            Ports names;
            for (const MixPort port : residua::projects::portsOf(ports)) {
                names.emplace_back(nameOf(port));
            }
            std::ranges::sort(names);
            return inputs == names;
        };
        // A first layer reads one entry: it may take what it would feed apart from q alone.
        const bool isFirst =
            inputs == Ports{std::string(nameOf(MixPort::Query)), std::string(nameOf(MixPort::Residual))};
        const bool apart = areOf(MixPorts::Qkv) || areOf(MixPorts::QkvResidual) || isFirst;
        if (inputs != Ports{kInputPort} && !(isBlock && apart)) {
            m_problems.error(m_path + "/nodes", placeOf(m_ref),
                             "input ports are " + (inputs.empty() ? "none" : joinedText(inputs)) + ", expected input" +
                                 (isBlock ? ", or q, k, v and perhaps residual" : "") +
                                 (conditions.empty() ? "" : ", and besides " + joinedText(conditions)));
        }
        checkOutputPorts();
    }

    /// Reports output ports other than the main one, those of labels, and values that something reads.
    void checkOutputPorts()
    {
        std::vector<std::string> expected{kOutputPort};
        for (const auto& [port, shape] : furtherOutputs()) {
            expected.push_back(port);
        }
        std::string unread;
        for (const std::string& port : m_ref.isBlock() ? std::vector<std::string>() : furtherPorts(m_graph)) {
            const std::string value = valueOf(m_project.network, port);
            const bool isTaken = value == statesOf(m_project.network) ||
                                 (m_ref.isHead() && std::ranges::count(furtherPorts(m_project.network.stem), port) > 0);
            if (isTaken) {
                m_problems.error(m_path + "/nodes", placeOf(m_ref),
                                 "has the output port " + port + ", but " + value +
                                     " is another value of the tower; expected a port with another name");
            }
            if (port.empty() || port.find_first_of(". @\t\n/") != std::string::npos) {
                m_problems.error(m_path + "/nodes", placeOf(m_ref),
                                 "has the output port \"" + port +
                                     "\"; expected a name without spaces, points, slashes and @");
            }
            if (std::ranges::count(expected, port) > 0) {
                continue;
            }
            if (isTaken || isRead(m_project, value)) {
                expected.push_back(port);
            } else {
                unread = value;
            }
        }
        std::ranges::sort(expected);
        if (portsOf(NodeRole::GraphOutput) != expected) {
            m_problems.error(m_path + "/nodes", placeOf(m_ref),
                             (expected.size() == 1 ? "expected one output node, its port named output"
                                                   : "expected output nodes with the ports " + joinedText(expected)) +
                                 (unread.empty() ? "" : "; no input port and no loss reads " + unread));
        }
    }

    /// Returns the outputs that the examples want besides the usual one: only a head has any.
    [[nodiscard]] std::map<std::string, Shape> furtherOutputs() const
    {
        return m_ref.isHead() && m_project.network.ownLoss != OwnLoss::None ? examplesOf(m_project).furtherOutputs()
                                                                            : std::map<std::string, Shape>();
    }

    void checkShapes()
    {
        const ResolvedGraph shapes = resolveGraph(m_project, m_ref);
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            if (const auto error = shapes.errors.find(m_graph.nodes[i].id); error != shapes.errors.end()) {
                m_problems.error(nodePath(i), error->second.place, error->second.message);
            }
        }
        for (const ResolvedNode& node : shapes.nodes) {
            checkRanks(shapes, node);
            checkDocuments(node);
            checkRows(node);
        }
        const OutputPort* const yields = shapes.outputPort(kOutputPort);
        const bool isFree = m_ref.isHead() && m_project.network.ownLoss == OwnLoss::None;
        if (yields && !isFree && yields->shape != m_expected) {
            m_problems.error(m_path, placeOf(m_ref),
                             "yields " + yields->shape.text() + ", expected " + m_expected.text());
        }
        for (const auto& [port, expected] : furtherOutputs()) {
            const OutputPort* const further = shapes.outputPort(port);
            if (further && further->shape != expected) {
                m_problems.error(m_path, placeOf(m_ref),
                                 "yields " + further->shape.text() + " at " + port + ", expected " + expected.text());
            }
        }
    }

    /// Reports ranks that save nothing, and low-rank weights that no method fits to the nodes after them.
    void checkRanks(const ResolvedGraph& shapes, const ResolvedNode& resolved)
    {
        const Node& node = *m_graph.find(resolved.id);
        for (const NodeParameter& weight : rankedWeightsOf(resolved)) {
            const auto rank = rankOf(resolved.params, weight.rank, weight.out(), weight.in());
            if (!rank) {
                continue;
            }
            const auto sides = static_cast<double>(weight.out()) + static_cast<double>(weight.in());
            const double full = static_cast<double>(weight.out()) * static_cast<double>(weight.in());
            if (static_cast<double>(*rank) * sides > full) {
                m_problems.warning(
                    nodePath(node), placeOf(m_ref, node),
                    weight.rank + " " + std::to_string(*rank) + " costs more than the full " + weight.name + ", " +
                        std::to_string(weight.out()) + " × " + std::to_string(weight.in()) + "; below " +
                        std::to_string(static_cast<std::int64_t>(std::ceil(full / sides))) + " it costs less");
            }
            const std::string follows = weight.atOutput ? activationAfter(m_graph, shapes, node.id) : std::string();
            if (traitsOf(m_project.initialisation.lowRank).looksAtWhatFollows && !isFitted(follows)) {
                m_problems.warning(nodePath(node), placeOf(m_ref, node),
                                   "is followed by " + follows +
                                       ", which factors are not fitted under (relu, silu and gelu are): they start as "
                                       "if nothing followed");
            }
        }
    }

    /// Reports a node that takes moments over the rows of a micro-batch that has one.
    void checkRows(const ResolvedNode& resolved)
    {
        const TrainingPlan& plan = m_project.training;
        if (!resolved.kind->traits.mixesExamples || plan.batching != BatchKind::Random) {
            return;
        }
        const Shape& in = resolved.in.front();
        double rows = 1;
        for (std::size_t i = 0; i + 1 < in.dims.size(); ++i) {
            rows *= real(in.dims[i] == kBatch ? plan.batch : in.dims[i] == kTime ? plan.sequenceLength : in.dims[i]);
        }
        if (rows <= 1) {
            const Node& node = *m_graph.find(resolved.id);
            m_problems.error(
                nodePath(node), placeOf(m_ref, node),
                "normalises over the rows of a micro-batch, which has one; expected a batch of at least 2");
        }
    }

    void checkSharedNorms()
    {
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const Node& node = m_graph.nodes[i];
            const std::string share = weightOwnerOf(node);
            if (share.empty()) {
                continue;
            }
            const auto owner = std::ranges::find(m_graph.nodes, share, &Node::name);
            const bool usable =
                owner != m_graph.nodes.end() && owner->kind == node.kind && weightOwnerOf(*owner).empty();
            if (!usable || owner->id == node.id) {
                m_problems.error(nodePath(i) + "/params/share", placeOf(m_ref, node),
                                 "shares weights with " + share + ", expected a " + node.kind +
                                     " of this graph that has its own");
            }
        }
    }

    void checkUse()
    {
        std::set<NodeId> feeding;
        for (const Wire& wire : m_graph.wires) {
            feeding.insert(wire.from.node);
        }
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const Node& node = m_graph.nodes[i];
            const NodeKind* const kind = findNodeKind(node.kind);
            if (kind && !kind->outputs.empty() && !feeding.contains(node.id)) {
                m_problems.warning(nodePath(i), placeOf(m_ref, node), "its output is not used");
            }
        }
    }

    /// Reports segment embeddings that do not tell the two texts of the data's pairs apart.
    void checkSegments()
    {
        if (!examplesOf(m_project).conditions().contains(kSegmentsPort)) {
            return;
        }
        const auto has = [](const Node& node, const char* param, const ParamValue& value) {
            const auto found = node.params.find(param);
            return found != node.params.end() && found->second == value;
        };
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const Node& node = m_graph.nodes[i];
            if (node.kind == "segment_embedding" && !has(node, kPairedParam, true) &&
                !has(node, "segments", std::int64_t{1})) {
                m_problems.warning(nodePath(i), placeOf(m_ref, node),
                                   "reads no segments, so that both texts of a pair get row 0; expected the port "
                                   "segments, by which the second gets row 1");
            }
        }
    }

    /// Reports nodes that see tokens of hidden spans, or cannot let all tokens see the text before the spans.
    void checkDenoising(const ResolvedNode& resolved)
    {
        const bool attends = roleOf(*m_graph.find(resolved.id)) == NodeRole::Attention;
        if (!traitsOf(m_project.network.objective).denoises || (!attends && !resolved.params.contains("causal"))) {
            return;
        }
        const bool causal = paramBool(resolved.params, "causal");
        const bool sums = attends && usesFeatures(resolved.params);
        const bool bounded = attends && paramInt(resolved.params, kWindowParam) > 0;
        if (causal && !sums && !bounded) {
            return;
        }
        const Node& node = *m_graph.find(resolved.id);
        m_problems.error(nodePath(node), placeOf(m_ref, node),
                         !causal ? "sees the tokens that a mixture of denoisers predicts: expected causal, which still "
                                   "sees the whole text before the spans"
                         : sums  ? "a performer sums over all earlier tokens, and cannot see a text in both "
                                   "directions: expected attention by softmax"
                                 : "has a window, beyond which a text before its spans is not seen: expected window 0");
    }

    /// Reports nodes that mix tokens of different documents in a row, or read its padding.
    void checkDocuments(const ResolvedNode& resolved)
    {
        checkDenoising(resolved);
        const DocumentRows rows = rowsOf(m_project.data);
        const bool causal = resolved.params.contains("causal") && paramBool(resolved.params, "causal");
        if (rows == DocumentRows::Stream || (rows == DocumentRows::Single && causal)) {
            return;
        }
        const Node& node = *m_graph.find(resolved.id);
        const bool sums = roleOf(node) == NodeRole::Attention && usesFeatures(resolved.params);
        if (sums || node.kind == "conv1d") {
            m_problems.error(
                nodePath(node), placeOf(m_ref, node),
                std::string(sums ? "a performer sums over" : "mixes") +
                    (rows == DocumentRows::Packed ? " tokens of all documents in a row" : " tokens and padding") +
                    ": expected attention by softmax, or data.documents.rows stream");
        }
    }

    const Project& m_project;
    GraphRef m_ref;
    const Graph& m_graph;
    std::string m_path;
    Shape m_expected;
    Problems& m_problems;
};

} // namespace

void validateGraph(const Project& project, const GraphRef& ref, const Shape& expected, Problems& problems)
{
    GraphCheck(project, ref, expected, problems).run();
}

} // namespace residua::projects
