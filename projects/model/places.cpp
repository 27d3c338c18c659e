// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"

#include "projects/model/project.h"

#include <cstdint>
#include <string_view>
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
    if (ref == kStem) {
        return &project.network.stem;
    }
    if (ref == kHead) {
        return &project.network.head;
    }
    const std::string_view prefix = kBlockPrefix;
    const Block* const block = ref.starts_with(prefix) ? project.network.findBlock(ref.substr(prefix.size())) : nullptr;
    return block ? &block->graph : nullptr;
}

Graph* findGraph(Project& project, const GraphRef& ref)
{
    return const_cast<Graph*>(findGraph(std::as_const(project), ref));
}

std::string placeOf(const GraphRef& ref)
{
    const std::string_view prefix = kBlockPrefix;
    return ref.starts_with(prefix) ? "block " + ref.substr(prefix.size()) : ref;
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
