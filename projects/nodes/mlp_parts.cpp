// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/ffn_site.h"

#include <algorithm>
#include <optional>
#include <set>

namespace residua::projects {

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
