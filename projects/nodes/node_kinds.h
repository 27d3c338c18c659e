// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/mix_port.h"
#include "projects/model/graph.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residua::projects {

struct Sizes;

enum class ParamType {
    Flag,
    Integer, ///< a number, or a formula over the named sizes
    Real,
    Choice, ///< one of `choices`
    Text,
    Formula, ///< text: an expression whose names are the node's input ports
    Rank,    ///< of one weight: "network" (the network's), "full", a whole number or a formula, or a share of its side
};

/// A condition: another parameter of the node has one of these values.
struct ParamCondition {
    std::string param;
    std::vector<ParamValue> values;
};

/// One parameter of a node kind: the inspector's row, the file's key.
struct ParamSpec {
    std::string name;
    std::string title;
    ParamType type = ParamType::Integer;
    ParamValue defaultValue;          ///< an Integer's may be a formula: "d"
    std::string unit;                 ///< "features", "heads", …; may be empty
    std::string help;                 ///< one sentence, with the papers' value where there is one
    std::vector<std::string> choices; ///< of a Choice
    double minimum = 0;               ///< numbers only, inclusive
    double maximum = 1e12;
    std::vector<ParamCondition> where = {}; ///< all must hold for it to mean something; empty: it always does
    bool alwaysShown = false;               ///< on the node's own line even where it has its default
    /// Of a Rank: the network's rank is meant where these hold, else full. They are about evaluated parameters before
    /// this one.
    std::vector<ParamCondition> networkRankWhere = {};
};

/// A node's parameters with every default filled in and every size formula evaluated.
/// One of type Rank is "full", a rank (whole) or a share of the smaller side (real).
using ParamMap = std::map<std::string, ParamValue>;

/// What a node costs for one token (language) or one sample (vectors), in a forward pass.
struct NodeCost {
    std::int64_t parameters = 0;
    double flops = 0;              ///< multiply and add count as two
    double activationElements = 0; ///< made here and kept for the backward pass; inputs are charged to their makers
};

/// What a node is to whoever reads a graph.
enum class NodeRole {
    Operation,
    GraphInput,  ///< what enters the graph
    GraphOutput, ///< what leaves it
    Sum,
    Norm,
    Attention,
    TokenEmbedding,
    Linear,
};

struct NodeTraits {
    NodeRole role = NodeRole::Operation;
    /// The backward pass needs what the node read. A sum's does not, nor that of a node that only moves values.
    bool keepsInputs = true;
    /// The backward pass does not need the node's own output, which is kept only where a reader keeps its inputs.
    bool keptForReaders = false;
    /// Its output is the memory that it reads, in another shape: who keeps the one keeps the other.
    bool isView = false;
    /// What it reads reaches its output by addition alone, or not at all: a node before it still writes to the
    /// residual.
    bool passesResidual = false;
    /// Each feature of its output depends on the same feature of its inputs alone, and it has no parameters.
    bool byFeature = false;
    /// A product with a matrix. Under bf16 it rounds what it reads, and its output is rounded whatever it reads.
    bool multiplies = false;
    /// Outside of training its output is its input.
    bool onlyInTraining = false;
    /// Its parameter kShareParam may name a node of the same kind whose weights it uses.
    bool sharesWeights = false;
};
inline constexpr const char* kShareParam = "share";
/// How many groups a convolution has.
inline constexpr const char* kGroupsParam = "groups";

/// A weight [out, in] of a node whose rank can be chosen.
struct RankedWeight {
    std::string rank; ///< the parameter that says its rank
    std::string name; ///< of its tensor under the node's name: "weight", "q.weight"
    std::int64_t out = 0;
    std::int64_t in = 0;
    bool atOutput = true; ///< what it makes is the node's output, not something inside
};

/// One entry of the node-kind table: palette, inspector, file format, shapes and cost follow from it.
/// The engine holds one builder per kind under the same key.
struct NodeKind {
    std::string key;      ///< "linear"
    std::string title;    ///< "Linear"
    std::string category; ///< palette group
    std::string summary;  ///< one line
    NodeTraits traits = {};
    /// Sets keepsInputs, keptForReaders and isView where a node's parameters decide them, for traitsOf(). The other
    /// traits are read from the kind, so it leaves them.
    std::function<void(const ParamMap&, NodeTraits&)> memoryRule = {};
    std::vector<std::string> inputs; ///< port names in order; a trailing "*" port takes any number: "in1", "in2", …
    std::vector<std::string> outputs;
    std::vector<ParamSpec> params;
    /// The input ports of a node whose parameters decide them, instead of `inputs`.
    std::function<std::vector<std::string>(const Node&)> inputRule = {};
    /// The activation that a node applies to the value at `port` before anything else: "silu"; empty for none.
    std::function<std::string(const ParamMap&, const std::string& port)> activationRule = {};
    /// Shapes of the outputs from those of the inputs (both in port order; an expression's ports are the sorted
    /// names of its formula). An error's place is the input port it is about, or empty.
    std::function<Result<std::vector<Shape>>(const ParamMap&, std::span<const Shape>)> shapeRule;
    /// Cost from parameters, input shapes and output shapes. `context` is the sequence length (1 for vectors).
    std::function<NodeCost(const ParamMap&, std::span<const Shape> in, std::span<const Shape> out,
                           std::int64_t context)>
        costRule;
    /// The weights that can be of less than full rank, for inputs of these shapes. None: there is none.
    std::function<std::vector<RankedWeight>(const ParamMap&, std::span<const Shape> in)> weightsRule = {};
};

/// The traits of a node of that kind whose parameters, complete ones, are these.
[[nodiscard]] NodeTraits traitsOf(const NodeKind& kind, const ParamMap& params);

/// The table, in palette order. Immutable; any thread.
[[nodiscard]] std::span<const NodeKind> nodeKinds();
/// nullptr for an unknown key.
[[nodiscard]] const NodeKind* findNodeKind(const std::string& key);

/// One parameter's value, evaluated and in its range. Errors name the parameter.
[[nodiscard]] Result<ParamValue> evaluateParam(const ParamSpec& spec, const ParamValue& value, const Sizes& sizes);
/// The node's parameters, complete and evaluated. Errors name the parameter.
[[nodiscard]] Result<ParamMap> evaluateParams(const Node& node, const Sizes& sizes);
[[nodiscard]] std::int64_t paramInt(const ParamMap& params, const std::string& name);
[[nodiscard]] double paramDouble(const ParamMap& params, const std::string& name);
[[nodiscard]] bool paramBool(const ParamMap& params, const std::string& name);
[[nodiscard]] const std::string& paramText(const ParamMap& params, const std::string& name);

/// Whether `spec` means anything for the node, by the values of its other parameters.
[[nodiscard]] bool appliesTo(const ParamSpec& spec, const Node& node);

/// The role of a node; Operation where its kind is unknown.
[[nodiscard]] NodeRole roleOf(const Node& node);
/// The name of the node whose weights this one uses by its parameter kShareParam; empty where it has its own.
[[nodiscard]] std::string weightOwnerOf(const Node& node);
/// The same of a node's kind and parameters, evaluated or as the document has them.
[[nodiscard]] std::string weightOwnerOf(const NodeKind& kind, const std::map<std::string, ParamValue>& params);
/// The ports by which a graph's value enters and leaves, where no other is meant.
inline constexpr const char* kInputPort = "input";
inline constexpr const char* kOutputPort = "output";
/// The parameter of an input or output node that names its graph's port.
inline constexpr const char* kPortParam = "port";
/// The graph's port that an input or output node stands for.
[[nodiscard]] std::string graphPortOf(const Node& node);
/// Whether the graph has an input node for a mix of that port alone: q, k, v or residual.
[[nodiscard]] bool hasInputPort(const Graph& graph, MixPort port);

/// The input ports that `node` has in `graph`, variadic ones counted by their wires.
[[nodiscard]] std::vector<std::string> inputPortsOf(const Node& node, const Graph& graph);
/// The port after these, which one more wire would make; nullopt where the node takes no further one.
[[nodiscard]] std::optional<std::string> nextInputPort(const Node& node, const Graph& graph);

/// What a parameter of type Rank says: the network's setting, or full.
inline constexpr const char* kNetworkRank = "network";
inline constexpr const char* kFullRank = "full";
/// What a person typed for a rank: "16" a rank, "0.25" a share of the smaller side, else a formula or one of the words.
[[nodiscard]] ParamValue rankFrom(const std::string& text);
/// The inner rank of the weight [out, in] whose rank the parameter `name` says: a share is rounded, at least 1. nullopt
/// where it is full.
[[nodiscard]] std::optional<std::int64_t> rankOf(const ParamMap& params, const std::string& name, std::int64_t out,
                                                 std::int64_t in);
/// Whether the node has a rank of its own below the full one.
[[nodiscard]] bool hasOwnRank(const Node& node);

/// Heads of an attention node whose inputs have `width` features: kv_heads 0 means as many as heads.
/// q projects to heads·headDim features, k and v to kvHeads·headDim, the output back to width.
struct AttentionSizes {
    std::int64_t heads = 1;
    std::int64_t kvHeads = 1;
    std::int64_t headDim = 1;
};
[[nodiscard]] AttentionSizes attentionSizesOf(const ParamMap& params, std::int64_t width);

} // namespace residua::projects
