// SPDX-License-Identifier: GPL-3.0-or-later
#include "projects/nodes/node_kinds.h"

#include "projects/base/real.h"
#include "projects/base/text.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/node_kind_rules.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace residua::projects {

namespace {

std::vector<NodeKind> makeTable()
{
    constexpr std::pair<const char*, std::vector<NodeKind> (*)()> kParts[] = {
        {"Ports", portKinds},        {"Linear", linearKinds},         {"Norm and activation", normKinds},
        {"Sequence", sequenceKinds}, {"Arithmetic", arithmeticKinds}, {"Arithmetic", imageKinds}};
    std::vector<NodeKind> table;
    for (const auto& [category, part] : kParts) {
        for (NodeKind& kind : part()) {
            kind.category = category;
            table.push_back(std::move(kind));
        }
    }
    return table;
}

const std::vector<NodeKind>& table()
{
    static const std::vector<NodeKind> kinds = makeTable();
    return kinds;
}

/// Returns the name of variadic ports without their number: "in" for "in*". Returns nullopt for other kinds.
std::optional<std::string> variadicStem(const NodeKind& kind)
{
    if (kind.inputRule || kind.inputs.empty() || !kind.inputs.back().ends_with('*')) {
        return std::nullopt;
    }
    return kind.inputs.back().substr(0, kind.inputs.back().size() - 1);
}

/// Returns "in1", "in2", … up to the highest wired port, at least two.
std::vector<std::string> variadicPorts(const Node& node, const Graph& graph, const std::string& stem)
{
    constexpr std::size_t kMost = 1000;
    std::size_t count = 2;
    for (const Wire& wire : graph.wires) {
        if (wire.to.node != node.id || !wire.to.port.starts_with(stem)) {
            continue;
        }
        const std::string digits = wire.to.port.substr(stem.size());
        if (!digits.empty() && digits.size() <= 3 &&
            std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
            count = std::max(count, std::min<std::size_t>(std::stoul(digits), kMost));
        }
    }
    std::vector<std::string> ports;
    for (std::size_t i = 1; i <= count; ++i) {
        ports.push_back(stem + std::to_string(i));
    }
    return ports;
}

} // namespace

std::span<const NodeKind> nodeKinds()
{
    return table();
}

const NodeKind* findNodeKind(const std::string& key)
{
    const auto it = std::ranges::find(table(), key, &NodeKind::key);
    return it == table().end() ? nullptr : &*it;
}

NodeTraits traitsOf(const NodeKind& kind, const ParamMap& params)
{
    NodeTraits traits = kind.traits;
    if (kind.memoryRule) {
        kind.memoryRule(params, traits);
    }
    return traits;
}

std::int64_t NodeParameter::in() const
{
    std::int64_t product = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) {
        product *= bySide && i == 2 ? 1 : shape[i];
    }
    return product;
}

std::vector<NodeParameter> parametersOf(const NodeKind& kind, const ParamMap& params, std::span<const Shape> in)
{
    std::vector<NodeParameter> parameters;
    if (!kind.parametersRule) {
        return parameters;
    }
    for (NodeParameter& parameter : kind.parametersRule(params, in)) {
        const auto rank =
            parameter.rank.empty() ? std::nullopt : rankOf(params, parameter.rank, parameter.out(), parameter.in());
        if (!rank) {
            parameters.push_back(std::move(parameter));
            continue;
        }
        NodeParameter u{.name = siblingOf(parameter.name, "u"), .shape = {parameter.out(), *rank}};
        parameter.name = siblingOf(parameter.name, "v");
        parameter.shape.front() = *rank;
        if (std::exchange(parameter.bySide, false)) {
            parameter.shape[2] = 1;
        }
        parameters.push_back(std::move(parameter));
        parameters.push_back(std::move(u));
    }
    return parameters;
}

NodeCost costOf(const NodeKind& kind, const ParamMap& params, std::span<const Shape> in, std::span<const Shape> out,
                std::int64_t context)
{
    NodeCost cost = kind.costRule ? kind.costRule(params, in, out, context) : NodeCost{};
    double count = 0;
    for (const NodeParameter& parameter : parametersOf(kind, params, in)) {
        count += real(parameter.out()) * real(parameter.in());
    }
    cost.parameters = countOf(count);
    return cost;
}

NodeRole roleOf(const Node& node)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    return kind ? kind->traits.role : NodeRole::Operation;
}

std::string weightOwnerOf(const Node& node)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    return kind ? weightOwnerOf(*kind, node.params) : std::string();
}

std::string weightOwnerOf(const NodeKind& kind, const std::map<std::string, ParamValue>& params)
{
    const auto share = kind.traits.sharesWeights ? params.find(kShareParam) : params.end();
    const auto* const name = share == params.end() ? nullptr : std::get_if<std::string>(&share->second);
    return name ? *name : std::string();
}

std::string graphPortOf(const Node& node)
{
    const auto own = node.params.find(kPortParam);
    const auto* const name = own == node.params.end() ? nullptr : std::get_if<std::string>(&own->second);
    return name ? *name : roleOf(node) == NodeRole::GraphOutput ? kOutputPort : kInputPort;
}

bool isFedByStack(const Node& node)
{
    const std::string port = graphPortOf(node);
    return roleOf(node) == NodeRole::GraphInput && (port == kInputPort || (!port.empty() && mixPortFrom(port)));
}

bool hasInputPort(const Graph& graph, MixPort port)
{
    return std::ranges::any_of(graph.nodes, [port](const Node& node) {
        return roleOf(node) == NodeRole::GraphInput && graphPortOf(node) == nameOf(port);
    });
}

std::vector<std::string> inputPortsOf(const Node& node, const Graph& graph)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    if (!kind) {
        return {};
    }
    if (kind->inputRule) {
        return kind->inputRule(node);
    }
    const std::optional<std::string> stem = variadicStem(*kind);
    return stem ? variadicPorts(node, graph, *stem) : kind->inputs;
}

std::optional<std::string> nextInputPort(const Node& node, const Graph& graph)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    const std::optional<std::string> stem = kind ? variadicStem(*kind) : std::nullopt;
    return stem ? std::optional(*stem + std::to_string(variadicPorts(node, graph, *stem).size() + 1)) : std::nullopt;
}

ParamValue rankFrom(const std::string& text)
{
    if (const auto whole = numberFrom<std::int64_t>(text)) {
        return *whole;
    }
    if (const auto share = numberFrom<double>(text)) {
        return *share;
    }
    return text;
}

std::optional<std::int64_t> rankOf(const ParamMap& params, const std::string& name, std::int64_t out, std::int64_t in)
{
    const ParamValue& value = params.at(name);
    if (const auto* const rank = std::get_if<std::int64_t>(&value)) {
        return *rank;
    }
    if (const auto* const share = std::get_if<double>(&value)) {
        return std::max<std::int64_t>(1, std::llround(*share * static_cast<double>(std::min(in, out))));
    }
    return std::nullopt;
}

bool hasOwnRank(const Node& node)
{
    const NodeKind* const kind = findNodeKind(node.kind);
    return kind && std::ranges::any_of(kind->params, [&](const ParamSpec& spec) {
               const auto own = node.params.find(spec.name());
               return spec.type == ParamType::Rank && own != node.params.end() && own->second != spec.defaultValue &&
                      own->second != ParamValue(std::string(kFullRank));
           });
}

bool unfoldsBySide(const ParamMap& params)
{
    const auto found = params.find(kUnfoldingParam);
    return found != params.end() && found->second == ParamValue(std::string(kBySide));
}

bool hasFeaturesLast(const ParamMap& params)
{
    const auto found = params.find(kLayoutParam);
    return found != params.end() && found->second == ParamValue(std::string(kFeaturesLast));
}

Shape channelsFirst(const ParamMap& params, const Shape& image)
{
    const std::vector<std::int64_t>& dims = image.dims;
    return hasFeaturesLast(params) ? Shape{{dims[0], dims[3], dims[1], dims[2]}} : image;
}

double dropRateAt(const ParamMap& params, double depth)
{
    const double first = paramDouble(params, "rate");
    const double last = paramDouble(params, kLastRateParam);
    const bool rises = paramText(params, kDropUnitParam) == kDropExamples && last > 0;
    return rises ? first + depth * (last - first) : first;
}

AttentionSizes attentionSizesOf(const ParamMap& params, std::int64_t width)
{
    AttentionSizes sizes;
    sizes.heads = paramInt(params, "heads");
    sizes.kvHeads = paramInt(params, "kv_heads");
    if (sizes.kvHeads == 0) {
        sizes.kvHeads = sizes.heads;
    }
    const std::int64_t given = paramInt(params, "head_dim");
    sizes.headDim = given > 0 ? given : width / sizes.heads;
    return sizes;
}

ParamSpec integerParam(std::string_view name, std::string_view title, ParamValue value, std::string_view unit,
                       std::string_view help, double minimum, double maximum)
{
    return {{name, title, help, {.unit = unit, .range = Range::within(minimum, maximum)}},
            ParamType::Integer,
            std::move(value)};
}

ParamSpec rankParam(std::string_view name, std::string_view title)
{
    return {
        {name,
         title,
         "full, a rank (16, or a formula), a share of the smaller side (0.25), or network: what the network says of "
         "all weights.",
         {.range = Range::within(1, 1e8)}},
        ParamType::Rank,
        std::string(kNetworkRank)};
}

double weightsOf(const ParamMap& params, const std::string& name, std::int64_t out, std::int64_t in)
{
    const auto o = static_cast<double>(out);
    const auto i = static_cast<double>(in);
    const std::optional<std::int64_t> rank = rankOf(params, name, out, in);
    return rank ? static_cast<double>(*rank) * (o + i) : o * i;
}

ParamSpec flagParam(std::string_view name, std::string_view title, bool value, std::string_view help)
{
    return {{name, title, help}, ParamType::Flag, value};
}

ParamSpec realParam(std::string_view name, std::string_view title, double value, std::string_view help, double minimum,
                    double maximum)
{
    return {{name, title, help, {.range = Range::within(minimum, maximum)}}, ParamType::Real, value};
}

ParamSpec choiceParam(std::string_view name, std::string_view title, const char* value,
                      std::vector<std::string> choices, std::string_view help)
{
    return {{name, title, help}, ParamType::Choice, std::string(value), std::move(choices)};
}

ParamSpec onlyWhere(ParamSpec spec, std::vector<ParamCondition> where)
{
    spec.where = std::move(where);
    return spec;
}

std::int64_t countOf(double product)
{
    return static_cast<std::int64_t>(std::min(product, real(kMostExactWhole)));
}

double elementsOf(const Shape& shape, std::int64_t context)
{
    double elements = 1;
    bool perToken = false;
    for (const std::int64_t dim : shape.dims) {
        perToken = perToken || dim == kTime;
        elements *= dim > 0 ? static_cast<double>(dim) : 1.0;
    }
    return perToken ? elements : elements / static_cast<double>(context);
}

Status requireReal(const Shape& shape, const std::string& port, std::size_t minimum, std::size_t maximum)
{
    if (shape.element == Element::Token) {
        return Error{port, "got " + shape.text() + ", expected real values; a token_embedding makes them"};
    }
    if (shape.dims.size() < minimum || shape.dims.size() > maximum) {
        const std::string range = minimum == maximum     ? std::to_string(minimum)
                                  : maximum == kMostDims ? "at least " + std::to_string(minimum)
                                                         : std::to_string(minimum) + " to " + std::to_string(maximum);
        return Error{port, "got " + shape.text() + ", expected " + range + " dimensions"};
    }
    return Done{};
}

Status requireSequence(const Shape& shape, const std::string& port)
{
    if (shape.element == Element::Token || shape.dims.size() != 3) {
        return Error{port, "got " + shape.text() + ", expected [batch, time, features]"};
    }
    return Done{};
}

Error widthMismatch(const std::string& port, std::int64_t got, std::int64_t expected)
{
    return Error{port, "width " + std::to_string(got) + " does not match " + std::to_string(expected)};
}

Status requireValue(const Shape& shape, const std::string& port)
{
    return requireReal(shape, port, shape.hasBatch() ? 2 : 1);
}

namespace {

/// Returns the combination of a value with one of fewer dimensions that all examples share: its dimensions are the last
/// ones of the other, or 1.
Result<Shape> meetShared(const Shape& whole, const Shape& shared, const std::string& port)
{
    const std::size_t before = whole.dims.size() - shared.dims.size();
    Shape met = whole;
    for (std::size_t i = 0; i < shared.dims.size(); ++i) {
        const bool isLast = i + 1 == shared.dims.size();
        std::int64_t& dim = met.dims[before + i];
        if (isLast && dim == 1) {
            dim = shared.dims[i];
        } else if (shared.dims[i] != 1 && shared.dims[i] != dim) {
            return Error{port, "shape " + shared.text() + " does not match the last dimensions of " + whole.text()};
        }
    }
    return met;
}

} // namespace

Result<Shape> meet(const Shape& a, const Shape& b, const std::string& port)
{
    if (a == b || b.dims.empty()) {
        return a;
    }
    if (a.dims.empty()) {
        return b;
    }
    if (!b.hasBatch() && b.dims.size() < a.dims.size()) {
        return meetShared(a, b, port);
    }
    if (!a.hasBatch() && a.dims.size() < b.dims.size()) {
        return meetShared(b, a, port);
    }
    Shape met = a;
    for (std::size_t i = 0; i < a.dims.size() && a.dims.size() == b.dims.size(); ++i) {
        const bool isFree = (i > 0 || !a.hasBatch()) && (a.dims[i] == 1 || b.dims[i] == 1);
        if (a.dims[i] != b.dims[i] && !isFree) {
            return i + 1 == a.dims.size() ? widthMismatch(port, b.features(), a.features())
                                          : Error{port, "shape " + b.text() + " does not match " + a.text()};
        }
        met.dims[i] = a.dims[i] == 1 ? b.dims[i] : a.dims[i];
    }
    return a.dims.size() == b.dims.size() ? Result<Shape>(std::move(met))
                                          : Error{port, "shape " + b.text() + " does not match " + a.text()};
}

Shape withFeatures(Shape shape, std::int64_t features)
{
    shape.dims.back() = features;
    return shape;
}

ShapeRuleResult sameShapeRule(const ParamMap&, Shapes in)
{
    const Status real = requireReal(in[0], "in", 2);
    return real ? ShapeRuleResult(std::vector{in[0]}) : real.error();
}

namespace {

constexpr std::array kActivations{
    Activation{"relu", "F.relu", "", "relu", ActivationKeeps::Output},
    Activation{"gelu", "F.gelu", "", "gelu"},
    Activation{"gelu_tanh", "F.gelu", "approximate=\"tanh\"", "gelu"}, // the two gelus differ by less than 0.0005
    Activation{"silu", "F.silu", "", "silu"},
    Activation{"tanh", "torch.tanh", "", "", ActivationKeeps::Output},
    Activation{"sigmoid", "torch.sigmoid", "", "", ActivationKeeps::Output},
    Activation{"identity", "", "", "identity", ActivationKeeps::Nothing},
};

} // namespace

std::span<const Activation> activations()
{
    return kActivations;
}

const Activation* findActivation(std::string_view name)
{
    const auto* const found = std::ranges::find(kActivations, name, &Activation::name);
    return found == kActivations.end() ? nullptr : found;
}

} // namespace residua::projects
