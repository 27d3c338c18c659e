// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/model/places.h"

#include "projects/base/json_tree.h"
#include "projects/base/text.h"
#include "projects/model/project.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace residua::projects {
namespace {

constexpr std::string_view kNetworkKey = "network";
constexpr std::string_view kBlocksKey = "blocks";
constexpr std::string_view kGraphKey = "graph";
constexpr std::string_view kNodesKey = "nodes";
constexpr std::string_view kWiresKey = "wires";

std::string below(std::string pointer, std::string_view key)
{
    pointer += '/';
    pointer += key;
    return pointer;
}

std::string below(std::string pointer, std::string_view list, std::size_t index)
{
    return below(below(std::move(pointer), list), std::to_string(index));
}

std::string networkPointer()
{
    return below({}, kNetworkKey);
}

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

std::string pointerOfBlock(std::size_t index)
{
    return below(networkPointer(), kBlocksKey, index);
}

std::string textOf(const Project& project, const GraphPointer& pointer)
{
    std::string text;
    if (pointer.graph.isBlock()) {
        const std::vector<Block>& blocks = project.network.blocks;
        const auto block = std::ranges::find(blocks, pointer.graph.blockName(), &Block::name);
        if (block == blocks.end()) {
            return {};
        }
        text = below(pointerOfBlock(static_cast<std::size_t>(block - blocks.begin())), kGraphKey);
    } else if (!pointer.graph.empty()) {
        text = below(networkPointer(), textOf(pointer.graph));
    } else {
        return {};
    }
    if (pointer.node) {
        return below(std::move(text), kNodesKey, *pointer.node);
    }
    return pointer.wire ? below(std::move(text), kWiresKey, *pointer.wire) : text;
}

std::optional<GraphPointer> graphPointerFrom(const Project& project, std::string_view text)
{
    const std::vector<std::string> tokens = tokensOf(text);
    const auto token = [&](std::size_t at) {
        return at < tokens.size() ? std::string_view(tokens[at]) : std::string_view();
    };
    if (token(0) != kNetworkKey) {
        return std::nullopt;
    }
    GraphPointer found;
    std::size_t inside = 2; // index of the first token within the graph
    if (token(1) == kBlocksKey) {
        const auto index = numberFrom<std::size_t>(token(2));
        if (!index || *index >= project.network.blocks.size()) {
            return std::nullopt;
        }
        found.graph = GraphRef::block(project.network.blocks[*index].name);
        inside = 4;
    } else if (token(1) == textOf(GraphRef::stem())) {
        found.graph = GraphRef::stem();
    } else if (token(1) == textOf(GraphRef::head())) {
        found.graph = GraphRef::head();
    } else {
        return std::nullopt;
    }
    const auto indexIn = [&](std::string_view list, std::size_t size) {
        const auto index = token(inside) == list ? numberFrom<std::size_t>(token(inside + 1)) : std::nullopt;
        return index && *index < size ? index : std::nullopt;
    };
    const Graph& graph = *findGraph(project, found.graph);
    found.node = indexIn(kNodesKey, graph.nodes.size());
    found.wire = indexIn(kWiresKey, graph.wires.size());
    return found;
}

} // namespace residua::projects
