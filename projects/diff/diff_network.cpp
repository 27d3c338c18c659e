// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/base/text.h"
#include "projects/diff/diff_walk.h"
#include "projects/model/places.h"

#include <limits>
#include <set>

namespace residua::projects {

namespace {

using Partners = std::map<NodeId, const Node*>; ///< from nodes of a to nodes of b

/// Pairs the nodes of two graphs: first by id and name, then by name (new ids), then by id and kind (renamed).
Partners partnersOf(const Graph& a, const Graph& b)
{
    Partners partners;
    std::set<NodeId> taken;
    const auto pairWhere = [&](const auto& alike) {
        for (const Node& node : a.nodes) {
            const auto other = partners.contains(node.id)
                                   ? b.nodes.end()
                                   : std::find_if(b.nodes.begin(), b.nodes.end(), [&](const Node& n) {
                                         return alike(node, n) && !taken.contains(n.id);
                                     });
            if (other != b.nodes.end()) {
                partners.emplace(node.id, &*other);
                taken.insert(other->id);
            }
        }
    };
    pairWhere([](const Node& x, const Node& y) { return x.id == y.id && x.name == y.name; });
    pairWhere([](const Node& x, const Node& y) { return x.name == y.name; });
    pairWhere([](const Node& x, const Node& y) { return x.id == y.id && x.kind == y.kind; });
    return partners;
}

/// Merges adjacent segments of one block, because a stack is the sequence of its layers.
std::string stackText(const std::vector<StackSegment>& stack, const std::map<std::string, std::string>& renamed)
{
    std::vector<StackSegment> merged;
    for (const StackSegment& segment : stack) {
        const auto name = renamed.find(segment.block);
        const std::string& block = name == renamed.end() ? segment.block : name->second;
        const std::int64_t room = std::numeric_limits<std::int64_t>::max() -
                                  (merged.empty() ? 0 : std::max<std::int64_t>(merged.back().repeat, 0));
        if (!merged.empty() && merged.back().block == block && segment.repeat >= 0 && segment.repeat <= room) {
            merged.back().repeat += segment.repeat;
        } else {
            merged.push_back({block, segment.repeat});
        }
    }
    const auto textOf = [](const StackSegment& segment) {
        return segment.block + " × " + std::to_string(segment.repeat);
    };
    return merged.empty() ? "no layers" : joinedText(merged, ", ", textOf);
}

} // namespace

void Differ::compare(const Graph& a, const Graph& b, const Words& place, std::string_view)
{
    const Words shortPlace{place.back()}; // without "network", as in the messages of validate()
    const Partners partners = partnersOf(a, b);
    compareNodes(a, b, shortPlace, partners);
    compareWires(a, b, shortPlace, partners);
}

void Differ::compareNodes(const Graph& a, const Graph& b, const Words& place, const Partners& partners)
{
    const auto describe = [](const Node& node) {
        std::string text = node.kind;
        for (const auto& [name, value] : node.params) {
            text += ", " + name + " " + spokenValue(value);
        }
        return text;
    };
    std::set<const Node*> met;
    for (const Node& node : a.nodes) {
        const Words at = within(place, "node " + node.name);
        const auto partner = partners.find(node.id);
        if (partner == partners.end()) {
            removed(at, describe(node));
            continue;
        }
        const Node& other = *partner->second;
        met.insert(&other);
        compare(node.name, other.name, within(at, "name"), {});
        compare(node.kind, other.kind, within(at, "kind"), {});
        std::set<std::string> names;
        for (const auto* params : {&node.params, &other.params}) {
            for (const auto& [name, value] : *params) {
                names.insert(name);
            }
        }
        for (const std::string& name : names) {
            const auto valueIn = [&](const Node& n) {
                const auto found = n.params.find(name);
                return found == n.params.end() ? std::string("default") : spokenValue(found->second);
            };
            if (node.params.contains(name) != other.params.contains(name) ||
                node.params.at(name) != other.params.at(name)) {
                changed(within(at, name), valueIn(node), valueIn(other));
            }
        }
    }
    for (const Node& node : b.nodes) {
        if (!met.contains(&node)) {
            added(within(place, "node " + node.name), describe(node));
        }
    }
}

void Differ::compareWires(const Graph& a, const Graph& b, const Words& place, const Partners& partners)
{
    // The wires with the names of b. Nodes that exist only in a keep their names and are listed separately.
    const auto nameIn = [](const Graph& graph, NodeId id) {
        const Node* node = graph.find(id);
        return node == nullptr ? textOf(id) : node->name;
    };
    const auto nameFromA = [&](NodeId id) {
        const auto partner = partners.find(id);
        return partner == partners.end() ? nameIn(a, id) : partner->second->name;
    };
    const auto textsOf = [](const Graph& graph, const auto& name) {
        std::set<std::string> texts;
        for (const Wire& wire : graph.wires) {
            texts.insert(name(wire.from.node) + "." + wire.from.port + " > " + name(wire.to.node) + "." + wire.to.port);
        }
        return texts;
    };
    const auto before = textsOf(a, nameFromA);
    const auto after = textsOf(b, [&](NodeId id) { return nameIn(b, id); });
    for (const std::string& wire : before) {
        if (!after.contains(wire)) {
            removed(within(place, "wire " + wire));
        }
    }
    for (const std::string& wire : after) {
        if (!before.contains(wire)) {
            added(within(place, "wire " + wire));
        }
    }
}

void Differ::compare(const std::vector<Block>& a, const std::vector<Block>& b, const Words&, std::string_view)
{
    const auto named = [](const std::vector<Block>& blocks, const std::string& name) {
        const auto found = std::ranges::find(blocks, name, &Block::name);
        return found == blocks.end() ? nullptr : &*found;
    };
    m_part = ChangedPart::Block;
    std::set<const Block*> met;
    for (const Block& block : a) {
        const Words place{"block " + block.name};
        const Block* other = named(b, block.name);
        if (other == nullptr) { // renamed if b has the same graph under a new name
            const auto twin = std::ranges::find_if(b, [&](const Block& candidate) {
                return candidate.graph == block.graph && named(a, candidate.name) == nullptr &&
                       !met.contains(&candidate);
            });
            if (twin == b.end()) {
                removed(place, countText(block.graph.nodes.size(), "node"));
                continue;
            }
            other = &*twin;
            m_renamedBlocks.emplace(block.name, other->name);
            changed(within(place, "name"), block.name, other->name);
        }
        met.insert(other);
        compare(block.preset, other->preset, within(place, "preset"), {});
        compare(block.graph, other->graph, place, {});
    }
    for (const Block& block : b) {
        if (!met.contains(&block)) {
            added({"block " + block.name}, countText(block.graph.nodes.size(), "node"));
        }
    }
    m_part = ChangedPart::Other;
}

void Differ::compare(const std::vector<Loop>& a, const std::vector<Loop>& b, const Words& place, std::string_view)
{
    if (a == b) {
        return; // also of invalid loops that begin alike
    }
    const auto placeOf = [&](const Loop& loop) { return within(place, "from layer " + std::to_string(loop.first)); };
    for (const Loop& loop : a) {
        const auto same = std::ranges::find(b, loop.first, &Loop::first);
        same == b.end() ? removed(placeOf(loop), details(loop, Listed::NotDefault))
                        : compareFields(loop, *same, placeOf(loop));
    }
    for (const Loop& loop : b) {
        if (std::ranges::find(a, loop.first, &Loop::first) == a.end()) {
            added(placeOf(loop), details(loop, Listed::NotDefault));
        }
    }
}

void Differ::compare(const std::vector<StackSegment>& a, const std::vector<StackSegment>& b, const Words& place,
                     std::string_view)
{
    const std::string before = stackText(a, m_renamedBlocks);
    const std::string after = stackText(b, {});
    if (before != after) {
        changed(place, before, after);
    }
}

} // namespace residua::projects
