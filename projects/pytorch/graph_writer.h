// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/nodes/resolved_graph.h"
#include "projects/pytorch/graph_code.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: writes one class of the module, method by method and node by node. A derived class writes the
/// node kinds (graph_nodes.cpp).
class GraphWriter {
public:
    GraphWriter(const Project& project, const GraphClass& made, HelperCode& helpers)
        : m_project(project), m_made(made), m_helpers(helpers), m_attributes(moduleAttributes())
    {
        for (const GraphMethod& method : made.methods) {
            m_attributes.take(method.name);
        }
        if (made.takesFactor) {
            m_attributes.take("factor");
        }
        if (made.ref.isBlock()) {
            m_attributes.take("depth");
        }
    }
    virtual ~GraphWriter() = default;
    GraphWriter(const GraphWriter&) = delete;
    GraphWriter& operator=(const GraphWriter&) = delete;

    Result<GraphCode> write();

private:
    /// Returns the value of a node that is not a port of the graph: an expression, or a variable that has the value.
    /// Writes the lines that it needs first. The error names the part that has no code.
    virtual Result<std::string> emit(const ResolvedNode& node) = 0;

    Status writeMethod(const GraphMethod& method, PythonText& text);

    void writeBody(std::string value, PythonText& text);

    [[nodiscard]] std::set<NodeId> nodesBehind(NodeId last) const;

    Status add(const ResolvedNode& node);

protected: // for emit()
    [[nodiscard]] std::string in(const ResolvedNode& node, std::size_t port = 0) const;

    /// Returns the attribute for the node with this name.
    std::string attributeOf(const std::string& name);
    /// Declares the node's module with these parameters and returns its attribute: "self.up".
    std::string module(const std::string& made, const std::vector<std::string>& parameters);

    const Project& m_project;
    const GraphClass& m_made;
    HelperCode& m_helpers;
    PythonNames m_attributes;
    std::map<std::string, std::string> m_attributeOf; ///< by the node's name
    std::vector<std::string> m_init;
    std::map<std::string, std::string> m_names;
    bool m_readsDepth = false;

    const GraphMethod* m_method = nullptr; ///< the method that is being written
    ResolvedGraph m_graph;
    std::optional<PythonNames> m_variables;
    std::map<PortRef, std::string> m_values;
    std::vector<std::string> m_body;
    const Node* m_node = nullptr;
};

} // namespace residua::projects
