// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"

#include "projects/model/project.h"

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
