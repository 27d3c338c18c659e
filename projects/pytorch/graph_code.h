// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/model/project.h"
#include "projects/nodes/expression.h"
#include "projects/pytorch/helper_code.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace residua::projects {

/// Private to pytorch: the graphs of a document as classes.

/// A graph, or one half of a block, as a method of its class.
struct GraphMethod {
    std::string name; ///< "forward"
    std::string doc;  ///< may be empty
    Graph graph;
    /// The arguments in order, and for each input port of the graph its argument.
    std::vector<std::string> arguments;
    std::map<std::string, std::string> argumentOf;
    /// The variables of conditions and values that the method takes as its last arguments.
    std::vector<std::string> conditions = {};
};

/// A graph that becomes one class, and the options of the class.
struct GraphClass {
    std::string name;
    GraphRef ref;
    std::vector<std::string> doc;
    std::vector<GraphMethod> methods;
    bool takesFactor = false;        ///< each layer's branch is scaled by a factor of its own
    bool mixesValues = false;        ///< its attention mixes its values with those of the first layer (value residual)
    std::optional<NodeId> tied = {}; ///< the linear node that takes its weight as the argument `table`
    std::optional<NodeId> kept = {}; ///< a node whose parameters are kept though no node reads it: the tied table
};

struct GraphCode {
    std::string text;
    /// Names of the parameters in the class by their names within the graph: "attn.q.weight".
    std::map<std::string, std::string> names;
    bool readsDepth = false; ///< its modules need an attribute `depth` (depthOfStored())
};
/// Errors name the node that has no PyTorch code.
[[nodiscard]] Result<GraphCode> codeOf(const Project& project, const GraphClass& made, HelperCode& helpers);

/// Formats a formula over tensors. `variables` has the Python names of the variables. The error names a function that
/// has no PyTorch code.
[[nodiscard]] Result<std::string>
pythonFormula(const Expression& formula, const std::map<std::string, std::string>& variables, HelperCode& helpers);

} // namespace residua::projects
