// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/transfer/retrofit.h"

#include "projects/base/text.h"
#include "projects/check/problems.h"
#include "projects/depth/unrolled_depth.h"
#include "projects/model/graph.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <string_view>

namespace residua::projects {
namespace {

/// The difference of a wiring from the plain network; nullopt if there is none.
using Departure = std::optional<std::string>;

/// Returns a text of the traits of a kind.
Departure given(std::string_view text)
{
    return text.empty() ? std::nullopt : Departure(text);
}

/// Returns the weight in the plain sum: 1 for every branch; for full outputs, 1 for the newest and 0 for the others.
double plainWeight(const DepthMix& mix, std::int64_t entry, std::int64_t newest)
{
    return mix.entry == StackEntry::Branch || entry == newest ? 1.0 : 0.0;
}

/// Returns the newest entry in the plain sum when the reader reads.
std::int64_t newestOf(const DepthMix& mix, const DepthPlan& plan, const DepthReader& reader)
{
    if (!reader.passes && hasTwoFamilies(mix) && reader.target <= plan.modules) {
        return reader.target - 2; // of the same kind: later ones are added as branches
    }
    return newestEntryBefore(mix, reader.target);
}

/// Returns the weight that a mix of the reader gives to an entry. `weights` has one for each source; that of a summed
/// middle applies to all entries in it. nullopt for an entry that it does not read.
std::optional<double> weightOf(const DepthReader& reader, std::span<const double> weights, std::int64_t entry,
                               std::int64_t newest)
{
    if (reader.passes) {
        return entry == newest ? std::optional(1.0) : std::nullopt;
    }
    const bool inMiddle = reader.middle && reader.middle->first <= entry && entry <= reader.middle->last;
    const auto source = std::ranges::equal_range(reader.sources, inMiddle ? reader.middle->first : entry);
    return source.empty() ? std::nullopt
                          : std::optional(weights[static_cast<std::size_t>(source.begin() - reader.sources.begin())]);
}

/// Returns the difference of a mix with these weights from the plain sum, without the reader's name.
Departure departureOf(const DepthMix& mix, const DepthReader& reader, std::span<const double> weights,
                      std::int64_t newest)
{
    for (std::int64_t entry = 0; entry <= newest; ++entry) {
        const std::optional<double> weight = weightOf(reader, weights, entry, newest);
        const double plain = plainWeight(mix, entry, newest);
        if (same(weight.value_or(0.0), plain)) {
            continue;
        }
        if (!weight) {
            return " does not read entry " + std::to_string(entry);
        }
        if (mix.normalise != NormaliseOver::None) {
            return " reads its " + std::to_string(weights.size()) + " sources through a softmax";
        }
        return " starts with " + numberText(*weight) + " times entry " + std::to_string(entry) + ", not " +
               numberText(plain);
    }
    return std::nullopt;
}

/// Returns the difference of the first reader of the plan that differs.
Departure departureOf(const DepthMix& mix, const ExecutedLayers& layers, const DepthPlan& plan)
{
    const MixNumbers start = appliedWeights(mix, plan, {1, plan.start});
    std::span<const double> rest = start.values;
    for (const DepthReader& reader : plan.readers) {
        const std::int64_t newest = newestOf(mix, plan, reader);
        for (int output = 0; output < reader.outputs; ++output) {
            const auto own = rest.first(reader.sources.size());
            rest = rest.subspan(own.size());
            if (const Departure departure = departureOf(mix, reader, own, newest)) {
                return readerName(mix, layers, reader.target) + *departure;
            }
        }
    }
    return std::nullopt;
}

Departure departureOf(const DepthMix& mix, const ExecutedLayers& layers)
{
    if (const Departure departure = given(traitsOf(mix.weight).departure)) {
        return departure;
    }
    if (mix.normalise == NormaliseOver::Targets) {
        return departureOf(mix, layers, planOf(mix, layers.count));
    }
    const std::int64_t last = lastReader(mix, mixedModules(mix, layers.count));
    for (std::int64_t target = 1; target <= last; ++target) {
        if (auto departure = departureOf(mix, layers, planOf(mix, layers.count, target))) {
            return departure;
        }
    }
    return std::nullopt;
}

Departure departureOf(const MultiStream& wiring, const ExecutedLayers&)
{
    if (wiring.streams == 1 || wiring.state == StreamState::Fractions) {
        return std::nullopt;
    }
    if (wiring.constraint == StreamConstraint::Permutations) {
        return "its reads and writes start with sums other than 1";
    }
    if (wiring.constraint == StreamConstraint::Identity) {
        return "its reads and writes start near those of the plain network, not as them";
    }
    if (wiring.constraint == StreamConstraint::DoublyStochastic && wiring.start == StreamStartLaw::AppendixA6) {
        return "its reads start with a sum other than 1";
    }
    if (wiring.exit == StreamExit::Head) {
        return "its learned exit starts with a part that is drawn";
    }
    const std::string n = std::to_string(wiring.streams);
    return wiring.exit == StreamExit::Mean
               ? Departure()
               : "its " + n + " streams are summed, so " + n + " times the plain network's output leaves";
}

Departure departureOf(const BranchGate& wiring, const ExecutedLayers&)
{
    return hasBoundedFactors(wiring) ? "its bounded factors start at a half" : given(traitsOf(wiring.gate).departure);
}

Departure departureOf(const Concatenation&, const ExecutedLayers&)
{
    return "its projections of the concatenation start at random";
}

Departure departureOf(const Wiring& wiring, const ExecutedLayers& layers)
{
    return std::visit([&](const auto& value) { return departureOf(value, layers); }, wiring);
}

/// Returns the reason why a wiring is not a sum with weights that do not depend on the input; nullopt if it is.
Departure obstacleOf(const DepthMix& mix)
{
    return traitsOf(mix.weight).isPerToken ? Departure("its weights are made from the input, for each token")
                                           : std::nullopt;
}

Departure obstacleOf(const MultiStream& wiring)
{
    if (wiring.weights == StreamWeights::Dynamic) {
        return "the weights of its streams are made from the input, for each token";
    }
    if (wiring.state == StreamState::Fractions) {
        return "its fractions mix the features";
    }
    if (wiring.exit == StreamExit::Head) {
        return "its exit weighs the streams for each token";
    }
    switch (wiring.constraint) {
    case StreamConstraint::DoublyStochastic:
        return "its streams are mixed by a matrix that is doubly stochastic only nearly";
    case StreamConstraint::Identity:
    case StreamConstraint::Permutations:
        return "its reads and writes are bounded by sigmoids";
    case StreamConstraint::None:
        break;
    }
    return std::nullopt;
}

Departure obstacleOf(const BranchGate& wiring)
{
    return traitsOf(wiring.gate).maps != LaurelMaps::None
               ? "it adds maps of low rank of what was before, which mix the features"
               : given(traitsOf(wiring.gate).obstacle);
}

Departure obstacleOf(const Concatenation&)
{
    return "its projections mix the features";
}

Error beyondSums(const Topology& own, const std::string& why)
{
    return {"topology", "the run's own, " + own.preset + ", computes what no weights of another do: " + why};
}

/// Returns the presets that start as the plain network.
std::string plainStarts(const ExecutedLayers& layers)
{
    std::vector<TopologyPreset> presets = topologyPresets(layers.count);
    std::erase_if(presets, [&layers](const TopologyPreset& preset) { return !startsAsPlain(preset.wiring, layers); });
    return joinedText(presets, ", ", &TopologyPreset::name);
}

/// The nodes that feed q, k and v of a block's attention.
struct AttentionFeed {
    NodeId attention{};
    NodeId input{};
    std::optional<NodeId> norm;       ///< between input and attention, if any
    std::optional<NodeId> modulation; ///< an expression of the norm's output, if any
};

const Wire* wireInto(const Graph& graph, NodeId node, std::string_view name)
{
    const std::string port(name);
    const auto found = std::ranges::find(graph.wires, PortRef{node, port}, &Wire::to);
    return found == graph.wires.end() ? nullptr : &*found;
}

std::optional<AttentionFeed> feedOf(const Graph& graph)
{
    if (std::ranges::count(graph.nodes, NodeRole::Attention, roleOf) != 1 ||
        std::ranges::count_if(graph.nodes, isFedByStack) != 1) {
        return std::nullopt;
    }
    AttentionFeed feed;
    feed.attention = std::ranges::find(graph.nodes, NodeRole::Attention, roleOf)->id;
    feed.input = std::ranges::find_if(graph.nodes, isFedByStack)->id;
    const Wire* const q = wireInto(graph, feed.attention, nameOf(MixPort::Query));
    for (const MixPort port : portsOf(MixPorts::Qkv)) { // the attention's ports have the same names
        const Wire* const wire = wireInto(graph, feed.attention, nameOf(port));
        if (wire == nullptr || wire->from != q->from) {
            return std::nullopt;
        }
    }
    if (q->from.node == feed.input) {
        return feed;
    }
    const Node* norm = graph.find(q->from.node);
    if (norm != nullptr && norm->kind == "expression") {
        const auto readsNorm = [&](const Wire& wire) {
            const Node* const from = graph.find(wire.from.node);
            return wire.to.node == *feed.modulation && from != nullptr && roleOf(*from) == NodeRole::Norm;
        };
        feed.modulation = norm->id;
        const auto wire = std::ranges::find_if(graph.wires, readsNorm);
        norm = wire == graph.wires.end() ? nullptr : graph.find(wire->from.node);
    }
    const bool isNorm = norm != nullptr && roleOf(*norm) == NodeRole::Norm;
    const Wire* const before = isNorm ? wireInto(graph, norm->id, "in") : nullptr;
    if (before == nullptr || before->from.node != feed.input) {
        return std::nullopt;
    }
    feed.norm = norm->id;
    return feed;
}

std::string freeNodeName(const Graph& graph, const std::string& base)
{
    return freeName(base, [&graph](const std::string& name) {
        return std::ranges::find(graph.nodes, name, &Node::name) != graph.nodes.end();
    });
}

NodeId addInput(Graph& graph, MixPort port)
{
    const NodeId id = graph.nextId();
    const std::string name(nameOf(port));
    graph.nodes.push_back({id, "input", freeNodeName(graph, name), {{kPortParam, name}}});
    return id;
}

void retarget(Graph& graph, const PortRef& to, const PortRef& from)
{
    std::ranges::find(graph.wires, to, &Wire::to)->from = from;
}

/// True unless a norm only normalises.
bool hasWeights(const Node& norm)
{
    const auto affine = norm.params.find("affine");
    return affine == norm.params.end() || affine->second != ParamValue(false);
}

/// Feeds the attention's `port` from a new input, through a norm that shares the weights of the existing one, and
/// through the same expression after it.
void addPort(Graph& graph, const AttentionFeed& feed, MixPort port)
{
    const std::string name(nameOf(port));
    PortRef source{addInput(graph, port), "out"};
    if (feed.norm) {
        Node norm = *graph.find(*feed.norm);
        if (weightOwnerOf(norm).empty() && hasWeights(norm)) {
            norm.params[kShareParam] = norm.name;
        }
        norm.id = graph.nextId();
        norm.name = freeNodeName(graph, norm.name + "_" + name);
        graph.nodes.push_back(norm);
        graph.wires.push_back({source, {norm.id, "in"}});
        source = {norm.id, "out"};
    }
    if (feed.modulation) {
        Node modulation = *graph.find(*feed.modulation);
        modulation.id = graph.nextId();
        modulation.name = freeNodeName(graph, modulation.name + "_" + name);
        graph.nodes.push_back(modulation);
        const std::vector<Wire> wires = graph.wires;
        for (const Wire& wire : wires) {
            if (wire.to.node == *feed.modulation) {
                graph.wires.push_back(
                    {wire.from.node == *feed.norm ? source : wire.from, {modulation.id, wire.to.port}});
            }
        }
        source = {modulation.id, "out"};
    }
    retarget(graph, {feed.attention, name}, source);
}

/// Adds the port residual and connects it to the other readers of the block's input.
void addResidual(Graph& graph, const AttentionFeed& feed)
{
    const PortRef query{feed.attention, std::string(nameOf(MixPort::Query))};
    const NodeId residual = addInput(graph, MixPort::Residual);
    for (Wire& wire : graph.wires) {
        const bool asks = feed.norm ? wire.to.node == *feed.norm : wire.to == query;
        if (wire.from.node == feed.input && !asks) {
            wire.from.node = residual;
        }
    }
}

/// Merges norms that share the weights of another norm and read the same value.
void joinNorms(Graph& graph, NodeId input)
{
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const Node& norm = graph.nodes[i];
        const std::string owner = weightOwnerOf(norm);
        const Wire* const fed = roleOf(norm) == NodeRole::Norm ? wireInto(graph, norm.id, "in") : nullptr;
        if (owner.empty() || fed == nullptr || fed->from.node != input) {
            continue;
        }
        const auto first = std::ranges::find_if(graph.nodes, [&](const Node& node) {
            const Wire* const wire = wireInto(graph, node.id, "in");
            return node.name == owner && wire != nullptr && wire->from == fed->from;
        });
        if (first == graph.nodes.end()) {
            continue;
        }
        const NodeId gone = norm.id;
        const NodeId kept = first->id;
        std::erase_if(graph.wires, [&](const Wire& wire) { return wire.to.node == gone; });
        for (Wire& wire : graph.wires) {
            wire.from.node = wire.from.node == gone ? kept : wire.from.node;
        }
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

/// Merges norms without weights and expressions that are alike and read the same values.
void joinAlike(Graph& graph)
{
    const auto inputsOf = [&](NodeId node) {
        std::map<std::string, PortRef> inputs;
        for (const Wire& wire : graph.wires) {
            if (wire.to.node == node) {
                inputs.emplace(wire.to.port, wire.from);
            }
        }
        return inputs;
    };
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) { // norms first, as expressions read them
        const Node first = graph.nodes[i];
        const bool isOne = first.kind == "expression" || (roleOf(first) == NodeRole::Norm && !hasWeights(first));
        for (std::size_t k = graph.nodes.size(); isOne && k-- > i + 1;) {
            const Node& other = graph.nodes[k];
            if (other.kind != first.kind || other.params != first.params || inputsOf(other.id) != inputsOf(first.id)) {
                continue;
            }
            const NodeId gone = other.id;
            std::erase_if(graph.wires, [&](const Wire& wire) { return wire.to.node == gone; });
            for (Wire& wire : graph.wires) {
                wire.from.node = wire.from.node == gone ? first.id : wire.from.node;
            }
            graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(k));
        }
    }
}

} // namespace

bool startsAsPlain(const Wiring& wiring, const ExecutedLayers& layers)
{
    return !departureOf(wiring, layers);
}

std::optional<Error> departureFromPlain(const Wiring& wiring, const ExecutedLayers& layers)
{
    if (const Departure departure = departureOf(wiring, layers)) {
        return Error{"topology", "does not start as the plain residual network: " + *departure +
                                     ". These do: " + plainStarts(layers)};
    }
    return std::nullopt;
}

std::optional<Error> departureFromSums(const Topology& own)
{
    const bool shifted = !std::holds_alternative<DepthMix>(own.wiring) && sitesOf(own.wiring) == MixSites::Ffn;
    Departure obstacle = std::visit([](const auto& value) { return obstacleOf(value); }, own.wiring);
    if (!obstacle && shifted) {
        obstacle = "it acts between the inputs of the FFNs";
    }
    return obstacle ? std::optional(beyondSums(own, *obstacle)) : std::nullopt;
}

Error departureByGates(const Topology& own)
{
    return beyondSums(own, std::string(kGatedByInput));
}

Error cannotGiveSums(const Topology& other)
{
    return {"topology", "what the run's own has learned cannot be said by the weights of " + other.preset +
                            "; grn-v2 and dca can say it"};
}

std::optional<Error> missingCheckpoint(const Project& project)
{
    const auto* const mix = std::get_if<DepthMix>(&project.stack().topology.wiring);
    if (mix == nullptr) {
        return std::nullopt;
    }
    for (const auto& [shortcut, state] : mix->states) {
        if (state.hold == ShortcutState::Hold::Learned) {
            return Error{
                "topology · shortcut " + textOf(shortcut),
                "is frozen as learned, and a new run has learned nothing; retrofit a run to this wiring, which "
                "holds its checkpoint's value, or freeze the shortcut at a number"};
        }
    }
    return std::nullopt;
}

Result<Block> withPortsApart(const Block& block, MixPorts ports)
{
    const bool residual = ports == MixPorts::QkvResidual;
    if (ports == MixPorts::Input ||
        (hasInputPort(block.graph, MixPort::Query) && (!residual || hasInputPort(block.graph, MixPort::Residual)))) {
        return block;
    }
    const std::optional<AttentionFeed> feed = feedOf(block.graph);
    if (!feed) {
        return Error{"block " + block.name, "cannot be fed q, k and v apart: expected one input, and one attention "
                                            "that reads it directly or by one norm, and an expression after it"};
    }
    Block opened = block;
    Graph& graph = opened.graph;
    for (const MixPort port : {MixPort::Key, MixPort::Value}) {
        addPort(graph, *feed, port);
    }
    if (residual) {
        addResidual(graph, *feed);
    }
    Node& input = *graph.find(feed->input);
    const std::string query(nameOf(MixPort::Query));
    input.name = freeNodeName(graph, query);
    input.params[kPortParam] = query;
    std::ranges::sort(graph.wires);
    return opened;
}

Block withPortsJoined(const Block& block)
{
    if (!hasInputPort(block.graph, MixPort::Query)) {
        return block;
    }
    Block joined = block;
    Graph& graph = joined.graph;
    Node& input = *std::ranges::find_if(graph.nodes, [&](const Node& node) {
        return isFedByStack(node) && graphPortOf(node) == nameOf(MixPort::Query);
    });
    const NodeId kept = input.id;
    for (Wire& wire : graph.wires) {
        if (const Node* const from = graph.find(wire.from.node); from != nullptr && isFedByStack(*from)) {
            wire.from.node = kept;
        }
    }
    input.params.erase(kPortParam);
    input.name.clear();
    input.name = freeNodeName(graph, "input");
    std::erase_if(graph.nodes, [&](const Node& node) { return isFedByStack(node) && node.id != kept; });
    joinNorms(graph, kept);
    joinAlike(graph);
    std::ranges::sort(graph.wires);
    return joined;
}

Result<Project> rewired(const Project& project, const Topology& topology)
{
    Project result = project;
    result.stack().topology = topology;
    const auto* const mix = std::get_if<DepthMix>(&topology.wiring);
    for (const Block* const used : usedBlocks(project.network)) {
        *result.network.findBlock(used->name) =
            RESIDUA_TRY(withPortsApart(*used, mix != nullptr ? mix->ports : MixPorts::Input));
    }
    return result;
}

} // namespace residua::projects
