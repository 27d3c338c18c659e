// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/graph_builder.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

GraphBuilder& GraphBuilder::node(const std::string& name, const std::string& kind,
                                 std::map<std::string, ParamValue> params)
{
    m_graph.nodes.push_back({m_graph.nextId(), kind, name, std::move(params)});
    return *this;
}

GraphBuilder& GraphBuilder::then(const std::string& name, const std::string& kind,
                                 std::map<std::string, ParamValue> params)
{
    const std::string last = m_graph.nodes.back().name;
    return node(name, kind, std::move(params)).wire(last, name);
}

GraphBuilder& GraphBuilder::wire(const std::string& from, const std::string& to)
{
    m_graph.wires.push_back({port(from, "out"), port(to, "in")});
    return *this;
}

Graph GraphBuilder::build() const
{
    Graph graph = m_graph;
    std::ranges::sort(graph.wires);
    return graph;
}

PortRef GraphBuilder::port(const std::string& text, const char* standard) const
{
    const std::size_t dot = text.find('.');
    const std::string name = text.substr(0, dot);
    const auto node = std::ranges::find(m_graph.nodes, name, &Node::name);
    const NodeId id = node == m_graph.nodes.end() ? NodeId{} : node->id;
    return {id, dot == std::string::npos ? standard : text.substr(dot + 1)};
}

NodeId insertAfter(Graph& graph, NodeId read, const std::string& name, const std::string& kind,
                   std::map<std::string, ParamValue> params)
{
    const NodeId inserted = graph.nextId();
    for (Wire& wire : graph.wires) {
        if (wire.from.node == read) {
            wire.from = {inserted, "out"};
        }
    }
    graph.wires.push_back({{read, "out"}, {inserted, "in"}});
    std::ranges::sort(graph.wires);
    graph.nodes.push_back({inserted, kind, name, std::move(params)});
    return inserted;
}

} // namespace residua::projects
