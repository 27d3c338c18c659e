// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/expression.h"
#include "projects/pytorch/helper_code.h"
#include "projects/pytorch/python_text.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the graphs of a document as classes.

/// A graph, or one half of a block, as a method of its class.
struct GraphMethod {
    std::string name; ///< "forward"
    std::string doc;  ///< empty: none
    Graph graph;
    /// Its arguments in order, and which of them each input port of the graph is.
    std::vector<std::string> arguments;
    std::map<std::string, std::string> argumentOf;
};

/// A graph that becomes one class, and what the class is asked for.
struct GraphClass {
    std::string name;
    GraphRef ref;
    std::vector<std::string> doc;
    std::vector<GraphMethod> methods;
    bool takesFactor = false;        ///< its layers' branches are scaled, each by a number of its own
    bool mixesValues = false;        ///< its attention mixes its values with the first layer's (value residual)
    std::optional<NodeId> tied = {}; ///< the linear that takes its weight as the argument `table`
    std::optional<NodeId> kept = {}; ///< a node whose parameters are there though nothing reads it: the tied table
};

struct GraphCode {
    std::string text;
    /// Where the parameters are in the class, by their names under the graph's own prefix: "attn.q.weight".
    std::map<std::string, std::string> names;
};
/// Errors name the node that has no counterpart.
[[nodiscard]] Result<GraphCode> codeOf(const Project& project, const GraphClass& made, HelperCode& helpers);

/// A formula over tensors, whose names stand for the variables given. An error names a function that has no
/// counterpart.
[[nodiscard]] Result<std::string>
pythonFormula(const Expression& formula, const std::map<std::string, std::string>& variables, HelperCode& helpers);

} // namespace residua::projects
