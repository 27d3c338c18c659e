// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/graph.h"
#include "projects/result.h"
#include "projects/shape.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace residua::projects {

struct Sizes;

/// One parameter of a node kind: the inspector's row, the file's key.
struct ParamSpec {
    std::string name;
    std::string title;
    ParamValue defaultValue;
    std::string unit;                  ///< "features", "heads", …; may be empty
    std::string help;                  ///< one sentence, with the papers' value where there is one
    std::vector<std::string> choices;  ///< for an enumeration; the default's type is then string
    double minimum = 0;                ///< numbers only
    double maximum = 1e12;
};

/// A node's parameters with every default filled in and every size formula evaluated.
using ParamMap = std::map<std::string, ParamValue>;

/// What a node costs for one token (language) or one sample (vectors), in a forward pass.
struct NodeCost {
    std::int64_t parameters = 0;
    double flops = 0;            ///< multiply and add count as two
    double activationElements = 0; ///< elements kept for the backward pass
};

/// One entry of the node-kind table: palette, inspector, file format, shapes and cost follow from it.
/// The engine holds one builder per kind under the same key.
struct NodeKind {
    std::string key;      ///< "linear"
    std::string title;    ///< "Linear"
    std::string category; ///< palette group
    std::string summary;  ///< one line
    std::vector<std::string> inputs;  ///< port names in order; a trailing "*" port takes any number: "in1", "in2", …
    std::vector<std::string> outputs;
    std::vector<ParamSpec> params;
    /// Shapes of the outputs from those of the inputs (both in port order).
    std::function<Result<std::vector<Shape>>(const ParamMap&, std::span<const Shape>)> shapeRule;
    /// Cost from parameters, input shapes and output shapes. `context` is the sequence length (1 for vectors).
    std::function<NodeCost(const ParamMap&, std::span<const Shape> in, std::span<const Shape> out, std::int64_t context)> costRule;
};

/// The table, in palette order. Immutable; any thread.
[[nodiscard]] std::span<const NodeKind> nodeKinds();
/// nullptr for an unknown key.
[[nodiscard]] const NodeKind* findNodeKind(const std::string& key);

/// The node's parameters, complete and evaluated. Errors name the parameter.
[[nodiscard]] Result<ParamMap> evaluateParams(const Node& node, const Sizes& sizes);
[[nodiscard]] std::int64_t paramInt(const ParamMap& params, const std::string& name);
[[nodiscard]] double paramDouble(const ParamMap& params, const std::string& name);
[[nodiscard]] bool paramBool(const ParamMap& params, const std::string& name);
[[nodiscard]] const std::string& paramText(const ParamMap& params, const std::string& name);

/// The input ports that `node` has in `graph`, variadic ones counted by their wires.
[[nodiscard]] std::vector<std::string> inputPortsOf(const Node& node, const Graph& graph);

} // namespace residua::projects
