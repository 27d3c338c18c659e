// SPDX-License-Identifier: GPL-3.0-or-later
// The sources of a node, one row per input: the wires of a graph for the keyboard and for screen readers.
#include "app/properties/property.h"

#include "projects/graphs/graph_edits.h"
#include "projects/model/places.h"
#include "projects/nodes/node_kinds.h"

#include <algorithm>
#include <set>

namespace residua::app {

namespace {

using projects::Graph;
using projects::Node;
using projects::NodeId;
using projects::PortRef;
using projects::Wire;
using Text = PropertyText;

/// Returns the node and all nodes that depend on it, which it cannot read without a cycle.
std::set<NodeId> readersOf(const Graph& graph, NodeId node)
{
    std::set<NodeId> readers{node};
    for (std::size_t before = 0; before != readers.size();) {
        before = readers.size();
        for (const Wire& wire : graph.wires) {
            if (readers.contains(wire.from.node)) {
                readers.insert(wire.to.node);
            }
        }
    }
    return readers;
}

/// Returns every output that the node may read.
std::vector<PortRef> sourcesFor(const Graph& graph, NodeId node)
{
    const std::set<NodeId> readers = readersOf(graph, node);
    std::vector<PortRef> sources;
    for (const Node& other : graph.nodes) {
        const projects::NodeKind* kind = projects::findNodeKind(other.kind);
        if (kind && !readers.contains(other.id)) {
            for (const std::string& port : kind->outputs) {
                sources.push_back({other.id, port});
            }
        }
    }
    return sources;
}

/// Returns the inputs, and one more if the node accepts any number.
std::vector<std::string> inputsOf(const Node& node, const Graph& graph)
{
    std::vector<std::string> inputs = inputPortsOf(node, graph);
    if (auto next = nextInputPort(node, graph)) {
        inputs.push_back(*std::move(next));
    }
    return inputs;
}

Property inputProperty(const Graph& graph, const NodePlace& place, const std::string& port, bool alone,
                       const std::vector<PortRef>& sources)
{
    const PortRef input{place.node, port};
    const auto feed = std::ranges::find(graph.wires, input, &Wire::to);
    Property property;
    property.key = "input." + port;
    property.group = Text::tr("Wires");
    property.title = alone ? Text::tr("Input") : Text::tr("Input %1").arg(QString::fromStdString(port));
    property.kind = PropertyKind::Choice;
    property.help = Text::tr("The node that it reads.");
    property.choices << Text::tr("not wired");
    property.value = feed == graph.wires.end() ? 0 : -1;
    for (const PortRef& source : sources) {
        if (feed != graph.wires.end() && feed->from == source) {
            property.value = static_cast<int>(property.choices.size());
        }
        property.choices << QString::fromStdString(graph.find(source.node)->name);
    }
    property.edit = [place, input, sources](const projects::Project& project,
                                            const QVariant& given) -> Result<projects::Edit> {
        const Graph* now = findGraph(project, place.graph);
        const int index = given.toInt();
        if (!now || index < 0 || index > static_cast<int>(sources.size())) {
            return Error{"input", "expected one of the nodes"};
        }
        const auto wired = std::ranges::find(now->wires, input, &Wire::to);
        projects::EditGroup group{Text::tr("Wire input %1").arg(QString::fromStdString(input.port)).toStdString(), {}};
        if (index > 0) {
            group.edits =
                projects::wireEdits(*now, place.graph, {sources.at(static_cast<std::size_t>(index - 1)), input});
        } else if (wired != now->wires.end()) {
            group.edits = projects::removeEdits(place.graph, {}, {*wired});
        }
        return projects::Edit{std::move(group)};
    };
    return property;
}

} // namespace

std::vector<Property> wireProperties(const projects::Project& project, const NodePlace& place)
{
    std::vector<Property> properties;
    const Graph* graph = findGraph(project, place.graph);
    const projects::Node* node = graph != nullptr ? graph->find(place.node) : nullptr;
    if (node == nullptr) {
        return properties;
    }
    const std::vector<std::string> inputs = inputsOf(*node, *graph);
    const std::vector<PortRef> sources = sourcesFor(*graph, place.node);
    for (const std::string& port : inputs) {
        properties.push_back(inputProperty(*graph, place, port, inputs.size() == 1, sources));
        properties.back().pointer = textOf(project, projects::GraphPointer{place.graph}) + "/wires";
    }
    return properties;
}

} // namespace residua::app
