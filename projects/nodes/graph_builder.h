// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Apart from node_kinds.h, because only code that makes graphs includes it.

#include "projects/model/graph.h"

#include <string>

namespace residua::projects {

/// Builds small graphs from node names and wires between names. Wrong names are reported by validate().
class GraphBuilder {
public:
    /// Begins with the node "input", the graph's input.
    [[nodiscard]] static GraphBuilder fromInput() { return GraphBuilder().node("input", "input"); }
    GraphBuilder& node(const std::string& name, const std::string& kind, std::map<std::string, ParamValue> params = {});
    /// Adds a node that reads the one added before it.
    GraphBuilder& then(const std::string& name, const std::string& kind, std::map<std::string, ParamValue> params = {});
    /// Adds a wire. The name of a node alone, "norm", means its port "out" (in `from`) or "in" (in `to`); "attention.q"
    /// names the port.
    GraphBuilder& wire(const std::string& from, const std::string& to);
    [[nodiscard]] Graph build() const;
    /// Adds the node "output", the graph's output, which reads the node added before it, and returns the graph.
    [[nodiscard]] Graph toOutput() { return then("output", "output").build(); }

private:
    [[nodiscard]] PortRef port(const std::string& text, const char* standard) const;

    Graph m_graph;
};

/// Puts a node with one input "in" behind the node `read`: all that read its output now read the new node. Returns the
/// new node.
NodeId insertAfter(Graph& graph, NodeId read, const std::string& name, const std::string& kind,
                   std::map<std::string, ParamValue> params);

} // namespace residua::projects
