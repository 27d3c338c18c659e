// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "projects/base/result.h"
#include "projects/depth/mix_port.h"
#include "projects/model/field.h"
#include "projects/model/graph.h"
#include "projects/model/optimiser.h"
#include "projects/nodes/shape.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
    Rank,    ///< of one weight: "network" (the network's), "full", an integer or formula, or a share of its smaller
             ///< side
};

/// A condition: another parameter of the node has one of these values.
struct ParamCondition {
    std::string param;
    std::vector<ParamValue> values;
};

/// One parameter of a node kind: a row in the inspector and a key in the file. The ends of its range are closed.
struct ParamSpec : Field {
    ParamType type = ParamType::Integer;
    ParamValue defaultValue;                ///< an Integer's may be a formula: "d"
    std::vector<std::string> choices = {};  ///< for a Choice
    std::vector<ParamCondition> where = {}; ///< all must hold for the parameter to apply; empty: always applies
    bool alwaysShown = false;               ///< shown on the node itself even at its default
    /// For a Rank: "network" means the network's rank if these hold, else full rank. They refer to parameters evaluated
    /// before this one.
    std::vector<ParamCondition> networkRankWhere = {};

    [[nodiscard]] std::string name() const { return std::string(key); }
};

/// A node's parameters with every default filled in and every size formula evaluated. A Rank is "full", a rank
/// (integer) or a share of the smaller side (real).
using ParamMap = std::map<std::string, ParamValue>;

/// The cost of a node per token (language) or sample (vectors) in a forward pass.
struct NodeCost {
    std::int64_t parameters = 0;
    double flops = 0;              ///< a multiply-add counts as two
    double activationElements = 0; ///< computed here and kept for the backward pass; inputs count where they are made
};

/// The role of a node for code that reads a graph.
enum class NodeRole {
    Operation,
    GraphInput,  ///< a value that enters the graph
    GraphOutput, ///< a value that leaves the graph
    Sum,
    Norm,
    Attention,
    TokenEmbedding,
    Linear,
};

struct NodeTraits {
    NodeRole role = NodeRole::Operation;
    /// True if the backward pass needs the node's inputs. False for a sum and for a node that only moves values.
    bool keepsInputs = true;
    /// True if the backward pass does not need the node's own output, so that it is kept only for a reader that keeps
    /// its inputs.
    bool keptForReaders = false;
    /// True if its output is a view of its input's memory, so that keeping one keeps both.
    bool isView = false;
    /// True if its inputs reach its output only by addition or not at all, so that a node before it still writes to the
    /// residual.
    bool passesResidual = false;
    /// True if each feature of its output depends only on the same feature of its inputs, and it has no parameters.
    bool byFeature = false;
    /// True for a product with a matrix. Under bf16 it rounds its inputs, and its output is always rounded.
    bool multiplies = false;
    /// True if its output equals its input outside of training.
    bool onlyInTraining = false;
    /// True if in training its output for an example depends on the other examples of the micro-batch.
    bool mixesExamples = false;
    /// True if its parameter kShareParam may name a node of the same kind whose weights it uses.
    bool sharesWeights = false;
};
inline constexpr const char* kShareParam = "share";
/// The number of groups of a convolution.
inline constexpr const char* kGroupsParam = "groups";
/// The parameter of a convolution that selects the matrix that its rank is of: the weight by output channel, C_out ×
/// (C_in · kernel²), or by one side of the kernel each, (C_out · kernel) × (C_in · kernel).
inline constexpr const char* kUnfoldingParam = "unfolding";
inline constexpr const char* kWholeKernel = "whole_kernel";
inline constexpr const char* kBySide = "by_side";
/// The parameter of a kind that reads images: [batch, channels, height, width] or [batch, height, width, features].
inline constexpr const char* kLayoutParam = "layout";
inline constexpr const char* kChannelsFirst = "channels_first";
inline constexpr const char* kFeaturesLast = "features_last";

/// The flag of a mean that keeps each dimension of positions with size 1.
inline constexpr const char* kKeepDimensionsParam = "keep_dimensions";
/// The parameter of a dropout: the elements, or whole examples (stochastic depth).
inline constexpr const char* kDropUnitParam = "of";
inline constexpr const char* kDropElements = "elements";
inline constexpr const char* kDropExamples = "examples";
/// The share of examples that a dropout zeroes in the last layer, to which the rates of the layers before rise evenly
/// from that of the first one; 0: all layers have the same.
inline constexpr const char* kLastRateParam = "last_rate";
/// The parameter of a batch norm: the moments of the process's own rows, or of the whole micro-batch over all ranks.
inline constexpr const char* kMomentsParam = "moments";
inline constexpr const char* kMomentsOfRank = "rank";
inline constexpr const char* kMomentsOfBatch = "batch";

/// A trained tensor of a node.
struct NodeParameter {
    std::string name;                ///< under the node's name: "weight", "q.bias"
    std::vector<std::int64_t> shape; ///< a weight that can be factored has its full shape [out, in, kernel, …]
    ParameterClass is = ParameterClass::Matrix;
    /// The name of the node parameter that sets its rank as a matrix [out(), in()]; empty: always full.
    std::string rank = {};
    bool atOutput = true; ///< true if a matrix's result is the node's output, not an inner value
    bool bySide = false;  ///< a kernel [out, in, k, k] is the matrix [out · k, in · k] (kUnfoldingParam)

    [[nodiscard]] std::int64_t out() const { return bySide ? shape[0] * shape[2] : shape.front(); }
    /// Returns the product of the other dimensions.
    [[nodiscard]] std::int64_t in() const;
};

/// One entry of the node-kind table, which defines palette, inspector, file format, shapes and cost. The engine has a
/// builder for each kind under the same key.
struct NodeKind {
    std::string key;           ///< "linear"
    std::string title;         ///< "Linear"
    std::string category = {}; ///< palette group, set by the table
    std::string summary;       ///< one line
    NodeTraits traits = {};
    /// Sets keepsInputs, keptForReaders and isView if a node's parameters decide them, for traitsOf(). It must not
    /// change the other traits, which are read from the kind.
    std::function<void(const ParamMap&, NodeTraits&)> memoryRule = {};
    /// Port names in order. A trailing "*" port takes any number: "in1", "in2", …
    std::vector<std::string> inputs = {"in"};
    std::vector<std::string> outputs = {"out"};
    std::vector<ParamSpec> params = {};
    /// The input ports of a node if its parameters decide them; replaces `inputs`.
    std::function<std::vector<std::string>(const Node&)> inputRule = {};
    /// The activation that a node applies to the value at `port` first: "silu"; empty if none.
    std::function<std::string(const ParamMap&, const std::string& port)> activationRule = {};
    /// Computes the output shapes from the input shapes, both in port order. An expression's ports are the sorted names
    /// of its formula. The error's place is the input port that it concerns, or empty.
    std::function<Result<std::vector<Shape>>(const ParamMap&, std::span<const Shape>)> shapeRule;
    /// Computes the cost, except the parameter count, from parameters, input shapes and output shapes. `context` is the
    /// sequence length (1 for vectors). If not set, the kind costs nothing. Callers use costOf().
    std::function<NodeCost(const ParamMap&, std::span<const Shape> in, std::span<const Shape> out,
                           std::int64_t context)>
        costRule = {};
    /// Returns the trained tensors for inputs of these shapes; the engine declares the same ones. If not set, the kind
    /// has none. Callers use parametersOf().
    std::function<std::vector<NodeParameter>(const ParamMap&, std::span<const Shape> in)> parametersRule = {};
};

/// Returns the traits of a node of this kind with the complete parameters `params`.
[[nodiscard]] NodeTraits traitsOf(const NodeKind& kind, const ParamMap& params);

/// Returns the trained tensors of a node of this kind. A weight below full rank is listed as its two factors.
[[nodiscard]] std::vector<NodeParameter> parametersOf(const NodeKind& kind, const ParamMap& params,
                                                      std::span<const Shape> in);
/// Returns the cost of a node of this kind, including its parameter count.
[[nodiscard]] NodeCost costOf(const NodeKind& kind, const ParamMap& params, std::span<const Shape> in,
                              std::span<const Shape> out, std::int64_t context);

/// Returns the table in palette order. Immutable; any thread.
[[nodiscard]] std::span<const NodeKind> nodeKinds();
/// Returns null for an unknown key.
[[nodiscard]] const NodeKind* findNodeKind(const std::string& key);

/// Evaluates one parameter and checks its range. Errors name the parameter.
[[nodiscard]] Result<ParamValue> evaluateParam(const ParamSpec& spec, const ParamValue& value, const Sizes& sizes);
/// Evaluates all parameters of the node. Errors name the parameter.
[[nodiscard]] Result<ParamMap> evaluateParams(const Node& node, const Sizes& sizes);
[[nodiscard]] std::int64_t paramInt(const ParamMap& params, const std::string& name);
[[nodiscard]] double paramDouble(const ParamMap& params, const std::string& name);
[[nodiscard]] bool paramBool(const ParamMap& params, const std::string& name);
[[nodiscard]] const std::string& paramText(const ParamMap& params, const std::string& name);

/// True if `spec` applies to the node, given the values of its other parameters.
[[nodiscard]] bool appliesTo(const ParamSpec& spec, const Node& node);

/// Returns the rate of a dropout in a layer at `depth`: 0 in the first stored layer, 1 in the last one.
[[nodiscard]] double dropRateAt(const ParamMap& params, double depth);

/// Returns the role of a node; Operation if its kind is unknown.
[[nodiscard]] NodeRole roleOf(const Node& node);
/// Returns the name of the node whose weights this node uses by its parameter kShareParam; empty if it has its own.
[[nodiscard]] std::string weightOwnerOf(const Node& node);
/// Does so for a node's kind and its parameters, evaluated or as in the document.
[[nodiscard]] std::string weightOwnerOf(const NodeKind& kind, const std::map<std::string, ParamValue>& params);
/// The default input and output ports of a graph.
inline constexpr const char* kInputPort = "input";
inline constexpr const char* kOutputPort = "output";
/// The parameter of an input or output node that names the graph's port.
inline constexpr const char* kPortParam = "port";
/// Returns the graph's port of an input or output node.
[[nodiscard]] std::string graphPortOf(const Node& node);
/// True for an input node that the stem's input or the stack feeds. The others are fed by a condition of the examples.
[[nodiscard]] bool isFedByStack(const Node& node);
/// True if the graph has an input node for a mix of `port` alone: q, k, v or residual.
[[nodiscard]] bool hasInputPort(const Graph& graph, MixPort port);

/// Returns the input ports of `node` in `graph`. Variadic ports are counted by their wires.
[[nodiscard]] std::vector<std::string> inputPortsOf(const Node& node, const Graph& graph);
/// Returns the port that one more wire would add; nullopt if the node has no such port.
[[nodiscard]] std::optional<std::string> nextInputPort(const Node& node, const Graph& graph);

/// The words for a parameter of type Rank: the network's rank, or full rank.
inline constexpr const char* kNetworkRank = "network";
inline constexpr const char* kFullRank = "full";
/// Parses a typed rank: "16" is a rank, "0.25" a share of the smaller side, other text a formula or one of the words.
[[nodiscard]] ParamValue rankFrom(const std::string& text);
/// Returns the inner rank that the parameter `name` sets for a weight [out, in]. A share is rounded, at least 1.
/// Returns nullopt for full rank.
[[nodiscard]] std::optional<std::int64_t> rankOf(const ParamMap& params, const std::string& name, std::int64_t out,
                                                 std::int64_t in);
/// True if the node is a convolution whose factors each read one side of the kernel.
[[nodiscard]] bool unfoldsBySide(const ParamMap& params);
/// True if the images that the node reads and makes have their features last.
[[nodiscard]] bool hasFeaturesLast(const ParamMap& params);
/// Returns the shape of an image of such a node as [batch, channels, height, width].
[[nodiscard]] Shape channelsFirst(const ParamMap& params, const Shape& image);
/// True if the node sets a rank below full rank.
[[nodiscard]] bool hasOwnRank(const Node& node);

/// The heads of an attention node with `width` input features. kv_heads 0 means as many as heads. q projects to
/// heads·headDim features, k and v to kvHeads·headDim, and the output back to width.
struct AttentionSizes {
    std::int64_t heads = 1;
    std::int64_t kvHeads = 1;
    std::int64_t headDim = 1;
};
[[nodiscard]] AttentionSizes attentionSizesOf(const ParamMap& params, std::int64_t width);

/// The tensor that the backward pass of an activation needs.
enum class ActivationKeeps { Input, Output, Nothing };

/// An activation that a node of kind "activation" applies to each element, with its properties.
/// engine/compute/graph/operator.h computes it.
struct Activation {
    std::string_view name;
    std::string_view torch;         ///< PyTorch's function; empty for the identity
    std::string_view torchArgument; ///< further argument of PyTorch's function; may be empty
    /// The activation used to fit the factors of a weight before it: the activation itself, or one that differs little.
    /// Empty if no method can fit them.
    std::string_view fittedAs;
    ActivationKeeps keeps = ActivationKeeps::Input;
};

/// Returns all activations in the order in which they are offered.
[[nodiscard]] std::span<const Activation> activations();
/// Returns null if there is no activation with this name.
[[nodiscard]] const Activation* findActivation(std::string_view name);

} // namespace residua::projects
