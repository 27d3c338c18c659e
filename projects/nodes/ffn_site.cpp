// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/ffn_site.h"

#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <set>

namespace residua::projects {

namespace {

using NodeSet = std::set<NodeId>;

/// Returns the only node that `matches` accepts, or null.
const Node* onlyOf(const Graph& graph, bool (*matches)(const Node&))
{
    return std::ranges::count_if(graph.nodes, matches) == 1 ? &*std::ranges::find_if(graph.nodes, matches) : nullptr;
}

bool isOutput(const Node& node)
{
    return roleOf(node) == NodeRole::GraphOutput;
}

/// Returns the nodes that feed `node`, in port order.
std::vector<NodeId> feedersOf(const Graph& graph, NodeId node)
{
    std::vector<NodeId> result;
    for (const Wire& wire : graph.wires) {
        if (wire.to.node == node) {
            result.push_back(wire.from.node);
        }
    }
    return result;
}

/// Returns `from` and all nodes that it depends on, up to `border`.
NodeSet upstream(const Graph& graph, NodeId from, std::optional<NodeId> border)
{
    NodeSet seen;
    std::vector<NodeId> open{from};
    while (!open.empty()) {
        const NodeId node = open.back();
        open.pop_back();
        if (!seen.insert(node).second || node == border) {
            continue;
        }
        for (const NodeId feeder : feedersOf(graph, node)) {
            open.push_back(feeder);
        }
    }
    return seen;
}

/// Returns the graph of the nodes in `kept`, with `end` wired to the output. If `source` is not the input node, the
/// input node replaces it.
Graph half(const Graph& graph, const NodeSet& kept, NodeId source, NodeId end)
{
    Graph result;
    const Node& input = *onlyOf(graph, isFedByStack);
    const Node& output = *onlyOf(graph, isOutput);
    for (const Node& node : graph.nodes) {
        if (node.id == input.id || node.id == output.id || (kept.contains(node.id) && node.id != source)) {
            result.nodes.push_back(node);
        }
    }
    const auto entering = [&](NodeId id) { return id == source ? PortRef{input.id, "out"} : PortRef{id, "out"}; };
    for (const Wire& wire : graph.wires) {
        const bool inside = kept.contains(wire.to.node) && wire.to.node != source && kept.contains(wire.from.node);
        if (inside) {
            result.wires.push_back({wire.from.node == source ? entering(source) : wire.from, wire.to});
        }
    }
    result.wires.push_back({entering(end), {output.id, "in"}});
    std::ranges::sort(result.wires);
    return result;
}

/// Returns the halves of a block with output a + f and the site at node `site`.
std::optional<BlockHalves> splitAt(const Graph& graph, NodeId input, NodeId site, NodeId a, NodeId f)
{
    const NodeSet before = upstream(graph, a, std::nullopt);
    const NodeSet after = upstream(graph, f, site);
    if (before.contains(site) || a == input || !after.contains(site) || after.contains(input)) {
        return std::nullopt;
    }
    return BlockHalves{half(graph, before, input, a), half(graph, after, site, f)};
}

/// A cut and the ends of its halves.
struct FfnCut {
    BlockHalves halves;
    HalfEnds ends;
};

std::optional<FfnCut> cutOf(const Graph& graph)
{
    const Node* const input = onlyOf(graph, isFedByStack);
    const Node* const output = onlyOf(graph, isOutput);
    const auto ends = output ? feedersOf(graph, output->id) : std::vector<NodeId>{};
    const Node* const sum = ends.size() == 1 ? graph.find(ends.front()) : nullptr;
    const auto parts = sum && roleOf(*sum) == NodeRole::Sum ? feedersOf(graph, sum->id) : std::vector<NodeId>{};
    if (!input || parts.size() != 2) {
        return std::nullopt;
    }
    for (const auto& [a, f] : {std::pair(parts[0], parts[1]), std::pair(parts[1], parts[0])}) {
        for (const Node& node : graph.nodes) {
            const auto terms = roleOf(node) == NodeRole::Sum ? feedersOf(graph, node.id) : std::vector<NodeId>{};
            const bool sums =
                terms.size() == 2 && std::ranges::count(terms, input->id) == 1 && std::ranges::count(terms, a) == 1;
            if (sums && node.id != sum->id) {
                if (auto halves = splitAt(graph, input->id, node.id, a, f)) {
                    return FfnCut{std::move(*halves), {a, f, node.id}};
                }
            }
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<HalfEnds> halfEndsOf(const Block& block)
{
    const std::optional<FfnCut> cut = cutOf(block.graph);
    return cut ? std::optional(cut->ends) : std::nullopt;
}

Result<BlockHalves> splitAtFfn(const Block& block)
{
    std::optional<FfnCut> cut = cutOf(block.graph);
    if (!cut) {
        return Error{"block " + block.name,
                     "has no feed-forward half to bridge, expected input + a → FFN, and a + FFN as the output"};
    }
    for (const Node& node : cut->halves.attention.nodes) {
        const NodeKind* const kind = findNodeKind(node.kind);
        if (kind && kind->parametersRule && cut->halves.feedForward.find(node.id) != nullptr) {
            return Error{"block " + block.name, "reads " + node.name +
                                                    " in both halves, which the wiring runs apart; expected a node "
                                                    "with parameters to feed one half"};
        }
    }
    return std::move(cut->halves);
}

namespace {

const ResolvedNode* nodeIn(const ResolvedGraph& graph, NodeId id)
{
    const auto found = std::ranges::find(graph.nodes, id, &ResolvedNode::id);
    return found == graph.nodes.end() ? nullptr : &*found;
}

std::optional<MlpNodes> mlpBefore(const ResolvedGraph& graph, const ResolvedNode& closer)
{
    MlpNodes mlp{{}, closer.id, closer.in.front().features()};
    std::set<NodeId> inside;
    std::vector<NodeId> open{closer.feeds.front().node};
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (!inside.insert(id).second) {
            continue;
        }
        const ResolvedNode* const node = nodeIn(graph, id);
        if (node == nullptr || node->out.empty() || node->out.front().features() != mlp.hidden) {
            return std::nullopt;
        }
        if (node->kind->traits.byFeature) {
            for (const PortRef& feed : node->feeds) {
                open.push_back(feed.node);
            }
        } else if (node->kind->traits.role != NodeRole::Linear) {
            return std::nullopt;
        }
    }
    for (const ResolvedNode& node : graph.nodes) {
        const bool isOutside = node.id != closer.id && (!inside.contains(node.id) || !node.kind->traits.byFeature);
        if (isOutside &&
            std::ranges::any_of(node.feeds, [&](const PortRef& feed) { return inside.contains(feed.node); })) {
            return std::nullopt;
        }
        if (inside.contains(node.id)) {
            (node.kind->traits.role == NodeRole::Linear ? mlp.openers : mlp.between).push_back(node.id);
        }
    }
    return mlp;
}

} // namespace

std::vector<MlpNodes> mlpsOf(const ResolvedGraph& graph)
{
    std::vector<MlpNodes> mlps;
    for (const ResolvedNode& node : graph.nodes) {
        if (node.kind->traits.role == NodeRole::Linear && !node.feeds.empty() && !node.in.empty()) {
            std::optional<MlpNodes> mlp = mlpBefore(graph, node);
            const auto isTaken = [&](NodeId opener) {
                return std::ranges::any_of(mlps, [&](const MlpNodes& other) { return other.closer == opener; });
            };
            if (mlp && std::ranges::none_of(mlp->openers, isTaken)) {
                mlps.push_back(std::move(*mlp));
            }
        }
    }
    return mlps;
}

} // namespace residua::projects
