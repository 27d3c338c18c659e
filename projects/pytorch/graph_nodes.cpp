// SPDX-License-Identifier: GPL-3.0-or-later
// What each kind of node is in PyTorch.
#include "projects/nodes/activations.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"
#include "projects/pytorch/graph_writer.h"

#include <algorithm>

namespace residua::projects {
namespace {

std::string flag(const char* name, bool value)
{
    return std::string(", ") + name + (value ? "=True" : "=False");
}

std::string size(std::int64_t value)
{
    return std::to_string(value);
}

std::string rotaryArguments(const AttentionTraits& traits, const RotaryPositions& positions)
{
    std::string text = traits.rope ? ", rope_base=" + pythonReal(positions.base) : "";
    text += traits.rotatesPart ? ", rotating=" + size(positions.features) : "";
    text += traits.scaling != RopeScaling::None ? ", rope_factor=" + pythonReal(positions.factor) : "";
    if (traits.scaling == RopeScaling::Llama3) {
        text += ", low_frequency=" + pythonReal(positions.low) + ", high_frequency=" + pythonReal(positions.high) +
                ", original_length=" + size(positions.original);
    }
    return text;
}

} // namespace

std::string GraphWriter::in(const ResolvedNode& node, std::size_t port) const
{
    return m_values.at(node.feeds[port]);
}

void GraphWriter::define(const ResolvedNode& node, const std::string& expression)
{
    const std::string variable = m_variables->of(m_node->name);
    m_body.push_back(variable + " = " + expression);
    alias(node, variable);
}

void GraphWriter::alias(const ResolvedNode& node, const std::string& variable)
{
    m_values[{node.id, node.kind->outputs.front()}] = variable;
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

std::vector<std::string> GraphWriter::weightNames(bool factored, bool bias)
{
    std::vector<std::string> names = factored ? std::vector<std::string>{"u", "v"} : std::vector<std::string>{"weight"};
    if (bias) {
        names.emplace_back("bias");
    }
    return names;
}

std::string GraphWriter::infix(const ResolvedNode& node, const char* sign) const
{
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < node.feeds.size(); ++i) {
        parts.push_back(in(node, i));
    }
    return joined(parts, sign);
}

Status GraphWriter::addSum(const ResolvedNode& node)
{
    define(node, infix(node, " + "));
    return Done{};
}

Status GraphWriter::addProduct(const ResolvedNode& node)
{
    define(node, infix(node, " * "));
    return Done{};
}

Status GraphWriter::addConcat(const ResolvedNode& node)
{
    define(node, "torch.cat((" + infix(node, ", ") + "), dim=-1)");
    return Done{};
}

Status GraphWriter::addExpression(const ResolvedNode& node)
{
    const Result<Expression> formula = parseExpression(paramText(node.params, "formula"));
    if (!formula) {
        return formula.error();
    }
    std::map<std::string, std::string> variables;
    for (const std::string& name : namesIn(*formula)) {
        variables.emplace(name, in(node, variables.size()));
    }
    const Result<std::string> text = pythonFormula(*formula, variables);
    if (!text) {
        return text.error();
    }
    define(node, *text);
    return Done{};
}

Status GraphWriter::addImage(const ResolvedNode& node)
{
    define(node, in(node) + ".reshape(-1, " + size(paramInt(node.params, "channels")) + ", " +
                     size(paramInt(node.params, "height")) + ", " + size(paramInt(node.params, "width")) + ")");
    return Done{};
}

Status GraphWriter::addFlatten(const ResolvedNode& node)
{
    define(node, in(node) + ".flatten(1)");
    return Done{};
}

Status GraphWriter::addLinear(const ResolvedNode& node)
{
    const std::int64_t out = paramInt(node.params, "out");
    const std::int64_t features = node.in[0].features();
    const bool bias = paramBool(node.params, "bias");
    if (m_made.tied && *m_made.tied == node.id) {
        std::string arguments = in(node) + ", table";
        if (bias) {
            const std::string attribute = attributeOf(m_node->name + " bias");
            m_init.push_back("self." + attribute + " = nn.Parameter(torch.zeros(" + size(out) + "))");
            m_names[m_node->name + ".bias"] = attribute;
            arguments += ", self." + attribute;
        }
        define(node, "F.linear(" + arguments + ")");
        return Done{};
    }
    const auto rank = rankOf(node.params, "rank", out, features);
    std::string made = "nn.Linear(" + size(features) + ", " + size(out) + flag("bias", bias) + ")";
    if (rank) {
        m_helpers.use(Helper::LowRankLinear);
        made = "LowRankLinear(" + size(features) + ", " + size(out) + ", rank=" + size(*rank) +
               (bias ? ", bias=True)" : ")");
    }
    define(node, module(made, weightNames(rank.has_value(), bias)) + "(" + in(node) + ")");
    return Done{};
}

Status GraphWriter::addConv1d(const ResolvedNode& node)
{
    const std::int64_t kernel = paramInt(node.params, "kernel");
    const std::int64_t groups = paramInt(node.params, "groups");
    const bool bias = paramBool(node.params, "bias");
    const std::int64_t before = paramBool(node.params, "causal") ? kernel - 1 : (kernel - 1) / 2;
    const std::string made = "nn.Conv1d(" + size(node.in[0].features()) + ", " + size(paramInt(node.params, "out")) +
                             ", kernel_size=" + size(kernel) + (groups > 1 ? ", groups=" + size(groups) : "") +
                             flag("bias", bias) + ")";
    const std::string padded = kernel == 1 ? in(node) + ".transpose(1, 2)"
                                           : "F.pad(" + in(node) + ".transpose(1, 2), (" + size(before) + ", " +
                                                 size(kernel - 1 - before) + "))";
    define(node, module(made, weightNames(false, bias)) + "(" + padded + ").transpose(1, 2)");
    return Done{};
}

Status GraphWriter::addConv2d(const ResolvedNode& node)
{
    const std::int64_t kernel = paramInt(node.params, "kernel");
    const std::int64_t groups = paramInt(node.params, "groups");
    const std::int64_t stride = paramInt(node.params, "stride");
    const std::int64_t padding = paramInt(node.params, "padding");
    const std::int64_t out = paramInt(node.params, "out");
    const std::int64_t channels = node.in[0].dims[1];
    const bool bias = paramBool(node.params, "bias");
    const auto rank = rankOf(node.params, "rank", out, channels * kernel * kernel);
    std::string made = "(" + size(channels) + ", " + size(out) + ", " + (rank ? "kernel=" : "kernel_size=") +
                       size(kernel) + (rank ? ", rank=" + size(*rank) : "") +
                       (stride > 1 ? ", stride=" + size(stride) : "") +
                       (padding > 0 ? ", padding=" + size(padding) : "") +
                       (groups > 1 ? ", groups=" + size(groups) : "") + flag("bias", bias) + ")";
    if (rank) {
        m_helpers.use(Helper::LowRankConv2d);
    }
    made.insert(0, rank ? "LowRankConv2d" : "nn.Conv2d");
    define(node, module(made, weightNames(rank.has_value(), bias)) + "(" + in(node) + ")");
    return Done{};
}

Status GraphWriter::addPatchify(const ResolvedNode& node)
{
    const std::string patch = size(paramInt(node.params, "patch"));
    const bool bias = paramBool(node.params, "bias");
    const std::string made = "nn.Conv2d(" + size(node.in[0].dims[1]) + ", " + size(paramInt(node.params, "out")) +
                             ", kernel_size=" + patch + ", stride=" + patch + flag("bias", bias) + ")";
    define(node, module(made, weightNames(false, bias)) + "(" + in(node) + ").flatten(2).transpose(1, 2)");
    return Done{};
}

GraphWriter::NormOwner GraphWriter::ownerOf(const ResolvedNode& node) const
{
    const auto nameOf = [&](const ResolvedNode& each) {
        const std::string& shared = paramText(each.params, kShareParam);
        return shared.empty() ? m_method->graph.find(each.id)->name : shared;
    };
    const std::string name = nameOf(node);
    for (const ResolvedNode& each : m_graph.nodes) {
        if (each.kind == node.kind && nameOf(each) == name) {
            const bool bias = each.params.contains("bias") && paramBool(each.params, "bias");
            return {name, bias, paramDouble(each.params, "epsilon")};
        }
    }
    return {name, false, paramDouble(node.params, "epsilon")};
}

Status GraphWriter::addNorm(const ResolvedNode& node)
{
    const bool isLayer = node.kind->key == "layer_norm";
    const NormOwner owner = ownerOf(node);
    const std::string features = size(node.in[0].features());
    const bool isNew = !m_attributeOf.contains(owner.name);
    const std::string attribute = "self." + attributeOf(owner.name);
    if (isNew) {
        const std::string noBias = isLayer && !owner.bias ? ", bias=False" : "";
        m_init.push_back(attribute + " = nn." + (isLayer ? "LayerNorm(" : "RMSNorm(") + features +
                         ", eps=" + pythonReal(owner.epsilon) + noBias + ")");
        for (const std::string& parameter : weightNames(false, owner.bias)) {
            m_names[owner.name + "." + parameter] = m_attributeOf.at(owner.name) + "." + parameter;
        }
    }
    const double epsilon = paramDouble(node.params, "epsilon");
    if (epsilon == owner.epsilon) {
        define(node, attribute + "(" + in(node) + ")");
    } else {
        const std::string bias = isLayer && owner.bias ? ", " + attribute + ".bias" : "";
        define(node, std::string(isLayer ? "F.layer_norm(" : "F.rms_norm(") + in(node) + ", (" + features + ",), " +
                         attribute + ".weight" + bias + ", eps=" + pythonReal(epsilon) + ")");
    }
    return Done{};
}

Status GraphWriter::addActivation(const ResolvedNode& node)
{
    const std::string& function = paramText(node.params, "function");
    const Activation* const activation = findActivation(function);
    if (activation == nullptr) {
        return Error{"function", "PyTorch code does not know " + function};
    }
    if (activation->torch.empty()) {
        alias(node, in(node));
        return Done{};
    }
    const std::string argument(activation->torchArgument);
    define(node, std::string(activation->torch) + "(" + in(node) + (argument.empty() ? "" : ", " + argument) + ")");
    return Done{};
}

Status GraphWriter::addSwiglu(const ResolvedNode& node)
{
    define(node, "F.silu(" + in(node, 0) + ") * " + in(node, 1));
    return Done{};
}

Status GraphWriter::addDropout(const ResolvedNode& node)
{
    const std::string made = "nn.Dropout(" + pythonReal(paramDouble(node.params, "rate")) + ")";
    define(node, module(made, {}) + "(" + in(node) + ")");
    return Done{};
}

Status GraphWriter::addScale(const ResolvedNode& node)
{
    const std::string value = pythonReal(paramDouble(node.params, "value"));
    const std::string& learned = paramText(node.params, "learned");
    if (learned == "no") {
        define(node, value + " * " + in(node));
        return Done{};
    }
    m_helpers.use(Helper::Scale);
    const std::int64_t factors = learned == "scalar" ? 1 : node.in[0].features();
    define(node, module("Scale(" + size(factors) + ", start=" + value + ")", {"factor"}) + "(" + in(node) + ")");
    return Done{};
}

Status GraphWriter::addAttention(const ResolvedNode& node)
{
    const std::int64_t width = node.in[0].features();
    const AttentionSizes sizes = attentionSizesOf(node.params, width);
    AttentionTraits traits;
    traits.causal = paramBool(node.params, "causal");
    const RotaryPositions positions = rotaryOf(node.params, sizes.headDim);
    traits.window = paramInt(node.params, kWindowParam) > 0;
    traits.features = usesFeatures(node.params);
    traits.rope = positions.features > 0;
    traits.rotatesPart = traits.rope && positions.features < sizes.headDim;
    traits.scaling = positions.scaling;
    traits.qkNorm = qkNormOf(node.params);
    traits.bias = hasQkvBias(node.params);
    traits.outBias = hasOutBias(node.params);
    traits.dropout = paramDouble(node.params, "dropout") > 0;
    traits.sharesHeads = sizes.heads != sizes.kvHeads;
    traits.mixesValues = m_made.mixesValues;
    std::string ranks;
    std::vector<std::string> parameters;
    const std::vector<RankedWeight> weights = rankedWeightsOf(node);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::string name = weights[i].name.substr(0, weights[i].name.find('.'));
        const auto rank = rankOf(node.params, weights[i].rank, weights[i].out, weights[i].in);
        traits.factored.at(i) = rank.has_value();
        ranks += rank ? ", " + name + "_rank=" + size(*rank) : "";
        for (const std::string& parameter :
             weightNames(rank.has_value(), name == "out" ? traits.outBias : traits.bias)) {
            parameters.push_back(name + "." + parameter);
        }
    }
    if (traits.features) {
        parameters.emplace_back("features");
    }
    if (traits.qkNorm != QkNorm::None) {
        parameters.insert(parameters.end(), {"q_norm.weight", "k_norm.weight"});
    }
    std::string made = m_helpers.attention(traits) + "(width=" + size(width) + ", heads=" + size(sizes.heads);
    made += traits.sharesHeads ? ", kv_heads=" + size(sizes.kvHeads) : "";
    made += ", head_dim=" + size(sizes.headDim) + ranks;
    made += traits.window ? ", window=" + size(paramInt(node.params, kWindowParam)) : "";
    made += traits.features ? ", features=" + size(paramInt(node.params, kFeaturesParam)) : "";
    made += rotaryArguments(traits, positions);
    made += traits.qkNorm != QkNorm::None ? ", norm_eps=" + pythonReal(paramDouble(node.params, "norm_eps")) : "";
    made += traits.dropout ? ", dropout=" + pythonReal(paramDouble(node.params, "dropout")) : "";
    const std::string called = module(made + ")", parameters) + "(" + in(node, 0) + ", " + in(node, 1) + ", " +
                               in(node, 2) + (traits.mixesValues ? ", first, share)" : ")");
    if (traits.mixesValues) {
        const std::string variable = m_variables->of(m_node->name);
        m_body.push_back(variable + ", values = " + called);
        alias(node, variable);
    } else {
        define(node, called);
    }
    return Done{};
}

Status GraphWriter::addTokenEmbedding(const ResolvedNode& node)
{
    const std::string made =
        "nn.Embedding(" + size(paramInt(node.params, "vocab")) + ", " + size(paramInt(node.params, "dim")) + ")";
    define(node, module(made, {"weight"}) + "(" + in(node) + ")");
    return Done{};
}

Status GraphWriter::addPositionEmbedding(const ResolvedNode& node)
{
    const std::string made =
        "nn.Embedding(" + size(paramInt(node.params, "length")) + ", " + size(node.in[0].features()) + ")";
    const std::string table = module(made, {"weight"});
    define(node, in(node) + " + " + table + ".weight[: " + in(node) + ".shape[1]]");
    return Done{};
}

Status GraphWriter::addSinusoids(const ResolvedNode& node)
{
    m_helpers.use(Helper::Sinusoids);
    define(node, in(node) + " + sinusoids(" + in(node) + ", " + pythonReal(paramDouble(node.params, "base")) + ")");
    return Done{};
}

Status GraphWriter::addMeanPool(const ResolvedNode& node)
{
    define(node, in(node) + ".mean(1)");
    return Done{};
}

} // namespace residua::projects
