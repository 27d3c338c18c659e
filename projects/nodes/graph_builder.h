// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/model/graph.h"

#include <string>

namespace residua::projects {

/// Writes small graphs down: nodes by name, wires between names. Mistakes in names are left for validate() to find.
class GraphBuilder {
public:
    GraphBuilder& node(const std::string& name, const std::string& kind, std::map<std::string, ParamValue> params = {});
    /// Adds a wire. The name of a node alone, "norm", means its port "out" (as `from`) or "in" (as `to`); "attention.q"
    /// names the port.
    GraphBuilder& wire(const std::string& from, const std::string& to);
    [[nodiscard]] Graph build() const;

private:
    [[nodiscard]] PortRef port(const std::string& text, const char* standard) const;

    Graph m_graph;
};

} // namespace residua::projects
