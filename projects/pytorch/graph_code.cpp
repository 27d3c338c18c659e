// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/pytorch/graph_writer.h"

#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/model/places.h"

#include <algorithm>
#include <utility>

namespace residua::projects {

Result<GraphCode> GraphWriter::write()
{
    PythonText bodies;
    for (const GraphMethod& method : m_made.methods) {
        RESIDUA_TRY(writeMethod(method, bodies));
    }
    PythonText text;
    text.beginClass(m_made.name, m_made.doc);
    if (!m_init.empty() || m_made.takesFactor) {
        text.define(m_made.takesFactor ? "__init__(self, factor)" : "__init__(self)");
        text.line("super().__init__()");
        if (m_made.takesFactor) {
            text.line("self.factor = factor");
        }
        for (const std::string& line : m_init) {
            text.line(line);
        }
    }
    return GraphCode{text.text() + bodies.text(), std::move(m_names), m_readsDepth};
}

Status GraphWriter::writeMethod(const GraphMethod& method, PythonText& text)
{
    m_method = &method;
    m_graph = resolveGraph(m_project, m_made.ref, method.graph);
    if (!m_graph.errors.empty()) {
        return m_graph.errors.begin()->second;
    }
    m_values.clear();
    m_body.clear();
    std::set<std::string> taken(method.arguments.begin(), method.arguments.end());
    taken.insert({"table", "first", "share", "values"});
    taken.insert(method.conditions.begin(), method.conditions.end());
    const std::set<std::string> helpers = helperNames();
    taken.insert(helpers.begin(), helpers.end());
    m_variables.emplace(std::move(taken));
    if (m_graph.outputPorts.empty()) {
        return Error{placeOf(m_made.ref), "the graph has no output node"};
    }
    std::set<NodeId> live;
    for (const OutputPort& output : m_graph.outputPorts) {
        live.merge(nodesBehind(output.from.node));
    }
    for (const ResolvedNode& node : m_graph.nodes) {
        const bool isKept = m_made.kept && *m_made.kept == node.id;
        if (!live.contains(node.id) && !isKept) {
            continue;
        }
        RESIDUA_TRY(add(node));
        if (!live.contains(node.id)) {
            m_body.pop_back(); // only its parameters are needed
        }
    }
    const auto results =
        mapped(m_graph.outputPorts, [&](const OutputPort& output) { return m_values.at(output.from); });
    writeBody(joinedText(results), text);
    return Done{};
}

void GraphWriter::writeBody(std::string value, PythonText& text)
{
    std::vector<std::string> arguments{"self"};
    arguments.insert(arguments.end(), m_method->arguments.begin(), m_method->arguments.end());
    if (m_made.tied) {
        arguments.emplace_back("table");
    }
    if (m_made.mixesValues) {
        arguments.insert(arguments.end(), {"first", "share"});
    }
    arguments.insert(arguments.end(), m_method->conditions.begin(), m_method->conditions.end());
    text.define(m_method->name + "(" + joinedText(arguments) + ")",
                m_method->doc.empty() ? std::vector<std::string>() : std::vector{m_method->doc});
    // Returns the last value directly instead of naming it first.
    const std::string last = value + " = ";
    if (!m_body.empty() && m_body.back().starts_with(last)) {
        value = m_body.back().substr(last.size());
        m_body.pop_back();
    }
    for (const std::string& line : m_body) {
        text.line(line);
    }
    if (m_made.takesFactor) {
        value = "self.factor * (" + value + ")";
    }
    text.line("return " + value + (m_made.mixesValues ? ", values" : ""));
}

std::set<NodeId> GraphWriter::nodesBehind(NodeId last) const
{
    std::set<NodeId> live{last};
    for (auto node = m_graph.nodes.rbegin(); node != m_graph.nodes.rend(); ++node) {
        if (live.contains(node->id)) {
            for (const PortRef& feed : node->feeds) {
                live.insert(feed.node);
            }
        }
    }
    return live;
}

Status GraphWriter::add(const ResolvedNode& node)
{
    m_node = m_method->graph.find(node.id);
    if (node.kind->traits.role == NodeRole::GraphInput) {
        m_values[{node.id, "out"}] = m_method->argumentOf.at(graphPortOf(*m_node));
        return Done{};
    }
    if (node.kind->traits.role == NodeRole::GraphOutput) {
        return Done{};
    }
    Result<std::string> value = emit(node);
    if (!value) {
        return Error{placeOf(m_made.ref, *m_node), value.error().message};
    }
    if (value->find_first_of(" (.[") != std::string::npos) { // no variable yet
        const std::string variable = m_variables->of(m_node->name);
        m_body.push_back(variable + " = " + *value);
        value = variable;
    }
    m_values[{node.id, node.kind->outputs.front()}] = *std::move(value);
    return Done{};
}

std::string GraphWriter::in(const ResolvedNode& node, std::size_t port) const
{
    return m_values.at(node.feeds[port]);
}

std::string GraphWriter::attributeOf(const std::string& name)
{
    const auto [known, isNew] = m_attributeOf.try_emplace(name);
    if (isNew) {
        known->second = m_attributes.of(name);
    }
    return known->second;
}

std::string GraphWriter::module(const std::string& made, const std::vector<std::string>& parameters)
{
    const std::string attribute = attributeOf(m_node->name);
    m_init.push_back("self." + attribute + " = " + made);
    for (const std::string& parameter : parameters) {
        m_names[m_node->name + "." + parameter] = attribute + "." + parameter;
    }
    return "self." + attribute;
}

} // namespace residua::projects
