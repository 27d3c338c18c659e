// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"

#include "projects/model/project.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace residua::projects {
namespace {

std::string nodeText(const Graph& graph, NodeId id)
{
    const Node* const node = graph.find(id);
    return node ? node->name : "#" + std::to_string(static_cast<std::uint32_t>(id));
}

} // namespace

const Graph* findGraph(const Project& project, const GraphRef& ref)
{
    if (ref.isStem()) {
        return &project.network.stem;
    }
    if (ref.isHead()) {
        return &project.network.head;
    }
    const Block* const block = ref.isBlock() ? project.network.findBlock(ref.blockName()) : nullptr;
    return block ? &block->graph : nullptr;
}

Graph* findGraph(Project& project, const GraphRef& ref)
{
    return const_cast<Graph*>(findGraph(std::as_const(project), ref));
}

GraphRef graphOfLayer(const Network& network, std::int64_t layer)
{
    if (layer == 0) {
        return GraphRef::stem();
    }
    if (layer > network.depth()) {
        return GraphRef::head();
    }
    const Block* const block = network.blockOfLayer(layer);
    return block != nullptr ? GraphRef::block(block->name) : GraphRef{};
}

GraphRef keptGraph(const Project& before, const GraphRef& ref, const Project& after)
{
    const Graph* const graph = findGraph(before, ref);
    if (graph == nullptr || findGraph(after, ref) != nullptr) {
        return findGraph(after, ref) != nullptr ? ref : GraphRef{};
    }
    const auto renamed = std::ranges::find_if(after.network.blocks, [&](const Block& block) {
        return block.graph == *graph && before.network.findBlock(block.name) == nullptr;
    });
    return renamed != after.network.blocks.end() ? GraphRef::block(renamed->name) : GraphRef{};
}

GraphRef graphAfter(const Project& before, const GraphRef& ref, const Project& after)
{
    const GraphRef kept = keptGraph(before, ref, after);
    const auto isInStack = [](const Project& project, const GraphRef& block) {
        return isUsed(project.stack().segments, block.blockName());
    };
    const bool leftTheStack = kept.isBlock() && isInStack(before, ref) && !isInStack(after, kept);
    if (!kept.empty() && !leftTheStack) {
        return kept;
    }
    const GraphRef first = graphOfLayer(after.network, 1);
    return findGraph(after, first) != nullptr ? first : GraphRef::stem();
}

std::string placeOf(const GraphRef& ref)
{
    return ref.isBlock() ? "block " + ref.blockName() : textOf(ref);
}

std::string placeOf(const GraphRef& ref, const Node& node)
{
    return placeOf(ref) + " · node " + node.name;
}

std::string placeOf(const GraphRef& ref, const Graph& graph, const Wire& wire)
{
    return placeOf(ref) + " · wire " + nodeText(graph, wire.from.node) + "." + wire.from.port + " > " +
           nodeText(graph, wire.to.node) + "." + wire.to.port;
}

} // namespace residua::projects
