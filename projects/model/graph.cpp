// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/graph.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

const Node* Graph::find(NodeId id) const
{
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == id; });
    return found == nodes.end() ? nullptr : &*found;
}

Node* Graph::find(NodeId id)
{
    return const_cast<Node*>(std::as_const(*this).find(id));
}

NodeId Graph::nextId() const
{
    std::uint32_t highest = 0;
    for (const Node& node : nodes) {
        highest = std::max(highest, static_cast<std::uint32_t>(node.id));
    }
    return NodeId{highest + 1};
}

const Block* Network::blockOfLayer(std::int64_t layer) const
{
    return blockOfStored(stack().visitAt(layer).layer);
}

const Block* Network::blockOfStored(std::int64_t layer) const
{
    if (layer < 1) {
        return nullptr;
    }
    for (const StackSegment& segment : stack().segments) {
        if (layer <= segment.repeat) {
            return findBlock(segment.block);
        }
        layer -= std::max<std::int64_t>(segment.repeat, 0);
    }
    return nullptr;
}

const Block* Network::findBlock(const std::string& wanted) const
{
    const auto found =
        std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.name == wanted; });
    return found == blocks.end() ? nullptr : &*found;
}

Block* Network::findBlock(const std::string& wanted)
{
    return const_cast<Block*>(std::as_const(*this).findBlock(wanted));
}

} // namespace residua::projects
