// SPDX-License-Identifier: GPL-3.0-or-later
// The PyTorch code of each kind of node.
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kinds.h"
#include "projects/pytorch/graph_writer.h"

#include <map>
#include <string>
#include <vector>

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

constexpr const char* kToFeaturesLast = ".permute(0, 2, 3, 1)";
constexpr const char* kToChannelsFirst = ".permute(0, 3, 1, 2)";

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

/// Writes each node by its kind.
class NodeWriter final : public GraphWriter {
public:
    using GraphWriter::GraphWriter;

private:
    using Emit = Result<std::string> (NodeWriter::*)(const ResolvedNode&);

    Result<std::string> emit(const ResolvedNode& node) override
    {
        static const std::map<std::string, Emit> kTable{
            {"add", &NodeWriter::addSum},
            {"multiply", &NodeWriter::addProduct},
            {"concat", &NodeWriter::addConcat},
            {"expression", &NodeWriter::addExpression},
            {"image", &NodeWriter::addImage},
            {"features_last", &NodeWriter::addFeaturesLast},
            {"pool2d", &NodeWriter::addPool},
            {"flatten", &NodeWriter::addFlatten},
            {"linear", &NodeWriter::addLinear},
            {"conv1d", &NodeWriter::addConv1d},
            {"conv2d", &NodeWriter::addConv2d},
            {"patchify", &NodeWriter::addPatchify},
            {"rms_norm", &NodeWriter::addRmsNorm},
            {"layer_norm", &NodeWriter::addLayerNorm},
            {"batch_norm", &NodeWriter::addBatchNorm},
            {"parameter", &NodeWriter::addParameter},
            {"activation", &NodeWriter::addActivation},
            {"swiglu", &NodeWriter::addSwiglu},
            {"dropout", &NodeWriter::addDropout},
            {"noise", &NodeWriter::addNoise},
            {"scale", &NodeWriter::addScale},
            {"attention", &NodeWriter::addAttention},
            {"token_embedding", &NodeWriter::addTokenEmbedding},
            {"position_embedding", &NodeWriter::addPositionEmbedding},
            {"segment_embedding", &NodeWriter::addSegmentEmbedding},
            {"sinusoidal_positions", &NodeWriter::addSinusoids},
            {"step_embedding", &NodeWriter::addStepEmbedding},
            {"one_position", &NodeWriter::addOnePosition},
            {"slice", &NodeWriter::addSlice},
            {"unpatchify", &NodeWriter::addUnpatchify},
            {"class_token", &NodeWriter::addClassToken},
            {"first_token", &NodeWriter::addFirstToken},
            {"mean_pool", &NodeWriter::addMeanPool},
        };
        const auto found = kTable.find(node.kind->key);
        if (found == kTable.end()) {
            return Error{"", "the export to PyTorch does not know nodes of kind " + node.kind->key +
                                 "; leave it out, or go on training here"};
        }
        return (this->*found->second)(node);
    }

    [[nodiscard]] static std::vector<std::string> weightNames(bool factored, bool bias)
    {
        std::vector<std::string> names =
            factored ? std::vector<std::string>{"u", "v"} : std::vector<std::string>{"weight"};
        if (bias) {
            names.emplace_back("bias");
        }
        return names;
    }

    [[nodiscard]] std::string infix(const ResolvedNode& node, const char* sign) const
    {
        std::vector<std::string> parts;
        for (std::size_t i = 0; i < node.feeds.size(); ++i) {
            parts.push_back(in(node, i));
        }
        return joinedText(parts, sign);
    }

    Result<std::string> addSum(const ResolvedNode& node) { return infix(node, " + "); }

    Result<std::string> addProduct(const ResolvedNode& node) { return infix(node, " * "); }

    Result<std::string> addConcat(const ResolvedNode& node) { return "torch.cat((" + infix(node, ", ") + "), dim=-1)"; }

    Result<std::string> addExpression(const ResolvedNode& node)
    {
        const Expression formula = RESIDUA_TRY(parseExpression(paramText(node.params, "formula")));
        std::map<std::string, std::string> variables;
        for (const std::string& name : namesIn(formula)) {
            variables.emplace(name, in(node, variables.size()));
        }
        return pythonFormula(formula, variables, m_helpers);
    }

    Result<std::string> addImage(const ResolvedNode& node)
    {
        return in(node) + ".reshape(-1, " + size(paramInt(node.params, "channels")) + ", " +
               size(paramInt(node.params, "height")) + ", " + size(paramInt(node.params, "width")) + ")";
    }

    Result<std::string> addFlatten(const ResolvedNode& node) { return in(node) + ".flatten(1)"; }

    Result<std::string> addLinear(const ResolvedNode& node)
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
            return "F.linear(" + arguments + ")";
        }
        const auto rank = rankOf(node.params, "rank", out, features);
        std::string made = "nn.Linear(" + size(features) + ", " + size(out) + flag("bias", bias) + ")";
        if (rank) {
            m_helpers.use(Helper::LowRankLinear);
            made = "LowRankLinear(" + size(features) + ", " + size(out) + ", rank=" + size(*rank) +
                   (bias ? ", bias=True)" : ")");
        }
        return module(made, weightNames(rank.has_value(), bias)) + "(" + in(node) + ")";
    }

    Result<std::string> addConv1d(const ResolvedNode& node)
    {
        const std::int64_t kernel = paramInt(node.params, "kernel");
        const std::int64_t groups = paramInt(node.params, kGroupsParam);
        const bool bias = paramBool(node.params, "bias");
        const std::int64_t before = paramBool(node.params, "causal") ? kernel - 1 : (kernel - 1) / 2;
        const std::string made = "nn.Conv1d(" + size(node.in[0].features()) + ", " +
                                 size(paramInt(node.params, "out")) + ", kernel_size=" + size(kernel) +
                                 (groups > 1 ? ", groups=" + size(groups) : "") + flag("bias", bias) + ")";
        const std::string padded = kernel == 1 ? in(node) + ".transpose(1, 2)"
                                               : "F.pad(" + in(node) + ".transpose(1, 2), (" + size(before) + ", " +
                                                     size(kernel - 1 - before) + "))";
        return module(made, weightNames(false, bias)) + "(" + padded + ").transpose(1, 2)";
    }

    Result<std::string> addConv2d(const ResolvedNode& node)
    {
        const std::int64_t kernel = paramInt(node.params, "kernel");
        const std::int64_t groups = paramInt(node.params, kGroupsParam);
        const std::int64_t stride = paramInt(node.params, "stride");
        const std::int64_t padding = paramInt(node.params, "padding");
        const std::int64_t out = paramInt(node.params, "out");
        const std::int64_t channels = channelsFirst(node.params, node.in[0]).dims[1];
        const bool bias = paramBool(node.params, "bias");
        const NodeParameter weight = rankedWeightsOf(node).front();
        const auto rank = rankOf(node.params, weight.rank, weight.out(), weight.in());
        const bool bySide = rank && unfoldsBySide(node.params);
        std::string made = "(" + size(channels) + ", " + size(out) + ", " + (rank ? "kernel=" : "kernel_size=") +
                           size(kernel) + (rank ? ", rank=" + size(*rank) : "") +
                           (stride > 1 ? ", stride=" + size(stride) : "") +
                           (padding > 0 ? ", padding=" + size(padding) : "") +
                           (groups > 1 ? ", groups=" + size(groups) : "") + flag("bias", bias) + ")";
        if (rank) {
            m_helpers.use(bySide ? Helper::LowRankConv2dBySide : Helper::LowRankConv2d);
        }
        made.insert(0, bySide ? "LowRankConv2dBySide" : rank ? "LowRankConv2d" : "nn.Conv2d");
        return ofImage(node, module(made, weightNames(rank.has_value(), bias)) + "(", ")");
    }

    /// Returns `before` + the image that the node reads + `after`, whose value it makes.
    [[nodiscard]] std::string ofImage(const ResolvedNode& node, const std::string& before, const std::string& after)
    {
        return hasFeaturesLast(node.params) ? before + in(node) + kToChannelsFirst + after + kToFeaturesLast
                                            : before + in(node) + after;
    }

    Result<std::string> addFeaturesLast(const ResolvedNode& node) { return in(node) + kToFeaturesLast; }

    Result<std::string> addPool(const ResolvedNode& node)
    {
        const bool isMaximum = paramText(node.params, "function") == "max";
        return ofImage(node, isMaximum ? "F.max_pool2d(" : "F.avg_pool2d(",
                       ", " + size(paramInt(node.params, "kernel")) + ", " + size(paramInt(node.params, "stride")) +
                           ", padding=" + size(paramInt(node.params, "padding")) + ")");
    }

    Result<std::string> addPatchify(const ResolvedNode& node)
    {
        const std::string patch = size(paramInt(node.params, "patch"));
        const bool bias = paramBool(node.params, "bias");
        const std::string made = "nn.Conv2d(" + size(node.in[0].dims[1]) + ", " + size(paramInt(node.params, "out")) +
                                 ", kernel_size=" + patch + ", stride=" + patch + flag("bias", bias) + ")";
        return module(made, weightNames(false, bias)) + "(" + in(node) + ").flatten(2).transpose(1, 2)";
    }

    /// The norm that owns the weights: the node itself, or the node whose weights it uses.
    struct NormOwner {
        std::string name;
        bool bias = false; ///< set by the first of the nodes that share
        double epsilon = 0;
    };

    [[nodiscard]] NormOwner ownerOf(const ResolvedNode& node) const
    {
        const auto nameOf = [&](const ResolvedNode& each) {
            const std::string shared = weightOwnerOf(*each.kind, each.params);
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

    Result<std::string> addLayerNorm(const ResolvedNode& node)
    {
        if (!paramBool(node.params, "affine")) {
            return "F.layer_norm(" + in(node) + ", (" + size(node.in[0].features()) +
                   ",), eps=" + pythonReal(paramDouble(node.params, "epsilon")) + ")";
        }
        return addNorm(node, {"nn.LayerNorm", "F.layer_norm", true});
    }
    Result<std::string> addRmsNorm(const ResolvedNode& node)
    {
        return addNorm(node, {"nn.RMSNorm", "F.rms_norm", false});
    }

    /// The PyTorch names of a norm.
    struct NormWords {
        std::string module;
        std::string function;
        bool mayHaveBias = false; ///< true if it has a bias by default
    };

    Result<std::string> addNorm(const ResolvedNode& node, const NormWords& words)
    {
        const NormOwner owner = ownerOf(node);
        const std::string features = size(node.in[0].features());
        const bool isNew = !m_attributeOf.contains(owner.name);
        const std::string attribute = "self." + attributeOf(owner.name);
        if (isNew) {
            const std::string noBias = words.mayHaveBias && !owner.bias ? ", bias=False" : "";
            m_init.push_back(attribute + " = " + words.module + "(" + features + ", eps=" + pythonReal(owner.epsilon) +
                             noBias + ")");
            for (const std::string& parameter : weightNames(false, owner.bias)) {
                m_names[owner.name + "." + parameter] = m_attributeOf.at(owner.name) + "." + parameter;
            }
        }
        const double epsilon = paramDouble(node.params, "epsilon");
        if (epsilon == owner.epsilon) {
            return attribute + "(" + in(node) + ")";
        }
        const std::string bias = words.mayHaveBias && owner.bias ? ", " + attribute + ".bias" : "";
        return words.function + "(" + in(node) + ", (" + features + ",), " + attribute + ".weight" + bias +
               ", eps=" + pythonReal(epsilon) + ")";
    }

    Result<std::string> addBatchNorm(const ResolvedNode& node)
    {
        m_helpers.use(Helper::BatchNorm);
        const std::string made = "BatchNorm(" + size(node.in[0].features()) +
                                 ", eps=" + pythonReal(paramDouble(node.params, "epsilon")) +
                                 ", momentum=" + pythonReal(paramDouble(node.params, "momentum")) + ")";
        return module(made, {"weight", "bias", "running_mean", "running_var"}) + "(" + in(node) + ")";
    }

    Result<std::string> addParameter(const ResolvedNode& node)
    {
        const auto dims = mapped(node.out[0].dims, [](const std::int64_t dim) { return size(dim); });
        const bool isDrawn = paramText(node.params, "start") == "normal";
        const std::string start =
            isDrawn ? "torch.randn(" + joinedText(dims) + ") * " + pythonReal(paramDouble(node.params, "deviation"))
                    : "torch.full((" + joinedText(dims) + ",), " + pythonReal(paramDouble(node.params, "value")) + ")";
        const std::string attribute = attributeOf(m_node->name);
        m_init.push_back("self." + attribute + " = nn.Parameter(" + start + ")");
        m_names[m_node->name + ".value"] = attribute;
        return "self." + attribute;
    }

    Result<std::string> addActivation(const ResolvedNode& node)
    {
        const std::string& function = paramText(node.params, "function");
        const Activation* const activation = findActivation(function);
        if (activation == nullptr) {
            return Error{"function", "PyTorch code does not know " + function};
        }
        if (activation->torch.empty()) {
            return in(node);
        }
        const std::string argument(activation->torchArgument);
        return std::string(activation->torch) + "(" + in(node) + (argument.empty() ? "" : ", " + argument) + ")";
    }

    Result<std::string> addSwiglu(const ResolvedNode& node) { return "F.silu(" + in(node, 0) + ") * " + in(node, 1); }

    Result<std::string> addNoise(const ResolvedNode& node)
    {
        const std::string like = in(node);
        return "(torch.randn_like(" + like + ") if self.training else torch.zeros_like(" + like + "))";
    }

    Result<std::string> addDropout(const ResolvedNode& node)
    {
        if (paramText(node.params, kDropUnitParam) == kDropExamples) {
            return addExampleDropout(node);
        }
        const std::string made = "nn.Dropout(" + pythonReal(paramDouble(node.params, "rate")) + ")";
        return module(made, {}) + "(" + in(node) + ")";
    }

    Result<std::string> addExampleDropout(const ResolvedNode& node)
    {
        m_helpers.use(Helper::DropExamples);
        const double first = dropRateAt(node.params, 0);
        const double rise = dropRateAt(node.params, 1) - first;
        m_readsDepth |= rise != 0 && m_made.ref.isBlock();
        const std::string rate =
            pythonReal(first) + (rise != 0 && m_made.ref.isBlock() ? " + self.depth * " + pythonReal(rise) : "");
        return "drop_examples(" + in(node) + ", " + rate + ", self.training)";
    }

    Result<std::string> addScale(const ResolvedNode& node)
    {
        const std::string value = pythonReal(paramDouble(node.params, "value"));
        const std::string& learned = paramText(node.params, "learned");
        if (learned == "no") {
            return value + " * " + in(node);
        }
        m_helpers.use(Helper::Scale);
        const std::int64_t factors = learned == "scalar" ? 1 : node.in[0].features();
        return module("Scale(" + size(factors) + ", start=" + value + ")", {"factor"}) + "(" + in(node) + ")";
    }

    Result<std::string> addAttention(const ResolvedNode& node)
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
        traits.bias = attentionBiasOf(node.params);
        traits.dropout = paramDouble(node.params, "dropout") > 0;
        traits.masked = paramBool(node.params, kMaskedParam);
        traits.sharesHeads = sizes.heads != sizes.kvHeads;
        traits.mixesValues = m_made.mixesValues;
        std::string ranks;
        std::vector<std::string> parameters;
        const std::vector<NodeParameter> weights = rankedWeightsOf(node);
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const std::string name(projects::ownerOf(weights[i].name));
            const auto rank = rankOf(node.params, weights[i].rank, weights[i].out(), weights[i].in());
            traits.factored.at(i) = rank.has_value();
            ranks += rank ? ", " + name + "_rank=" + size(*rank) : "";
            for (const std::string& parameter : weightNames(rank.has_value(), hasBias(node.params, name))) {
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
                                   in(node, 2) + (traits.mixesValues ? ", first, share" : "") +
                                   (traits.masked ? ", " + in(node, 3) + ")" : ")");
        if (!traits.mixesValues) {
            return called;
        }
        std::string variable = m_variables->of(m_node->name);
        m_body.push_back(variable + ", values = " + called);
        return variable;
    }

    Result<std::string> addTokenEmbedding(const ResolvedNode& node)
    {
        const std::string made =
            "nn.Embedding(" + size(paramInt(node.params, "vocab")) + ", " + size(paramInt(node.params, "dim")) + ")";
        return module(made, {"weight"}) + "(" + in(node) + ")";
    }

    Result<std::string> addPositionEmbedding(const ResolvedNode& node)
    {
        const std::string made =
            "nn.Embedding(" + size(paramInt(node.params, "length")) + ", " + size(node.in[0].features()) + ")";
        const std::string table = module(made, {"weight"});
        return in(node) + " + " + table + ".weight[: " + in(node) + ".shape[1]]";
    }

    Result<std::string> addSegmentEmbedding(const ResolvedNode& node)
    {
        const std::string made =
            "nn.Embedding(" + size(paramInt(node.params, "segments")) + ", " + size(node.in[0].features()) + ")";
        const std::string table = module(made, {"weight"});
        return in(node) + " + " + (node.in.size() > 1 ? table + "(" + in(node, 1) + ")" : table + ".weight[0]");
    }

    Result<std::string> addSinusoids(const ResolvedNode& node)
    {
        const std::string base = pythonReal(paramDouble(node.params, "base"));
        if (const std::int64_t columns = paramInt(node.params, kColumnsParam); columns > 0) {
            m_helpers.use(Helper::GridSinusoids);
            const bool before = paramText(node.params, kLastWaveParam) == kLastWaveBefore;
            return in(node) + " + grid_sinusoids(" + in(node) + ", " + base + ", " + std::to_string(columns) +
                   (before ? ", before=True)" : ")");
        }
        if (paramText(node.params, kWavesParam) == kWavesInHalves) {
            m_helpers.use(Helper::SinusoidHalves);
            return in(node) + " + sinusoid_halves(" + in(node) + ", " + base + ")";
        }
        m_helpers.use(Helper::Sinusoids);
        return in(node) + " + sinusoids(" + in(node) + ", " + base + ")";
    }

    Result<std::string> addStepEmbedding(const ResolvedNode& node)
    {
        m_helpers.use(Helper::StepEmbedding);
        return "step_embedding(" + in(node) + ", " + size(paramInt(node.params, "features")) + ", " +
               pythonReal(paramDouble(node.params, "base")) + ", next(self.parameters(), torch.empty(())).dtype)";
    }

    Result<std::string> addOnePosition(const ResolvedNode& node) { return in(node) + ".unsqueeze(1)"; }

    Result<std::string> addSlice(const ResolvedNode& node)
    {
        const std::int64_t first = paramInt(node.params, "first");
        return in(node) + "[..., " + size(first) + " : " + size(first + paramInt(node.params, "count")) + "]";
    }

    Result<std::string> addUnpatchify(const ResolvedNode& node)
    {
        const std::int64_t patch = paramInt(node.params, "patch");
        const std::int64_t columns = paramInt(node.params, "columns");
        const std::vector<std::int64_t> sizes{node.in[0].dims[1] / columns, columns, patch, patch,
                                              node.in[0].dims[2] / (patch * patch)};
        return in(node) + ".reshape(-1, " + joinedText(sizes, ", ", size) + ").permute(0, 5, 1, 3, 2, 4).flatten(1)";
    }

    Result<std::string> addClassToken(const ResolvedNode& node)
    {
        const std::string token = module("nn.Embedding(1, " + size(node.in[0].features()) + ")", {"weight"});
        return "torch.cat((" + token + ".weight.expand(" + in(node) + ".shape[0], 1, -1), " + in(node) + "), 1)";
    }

    Result<std::string> addFirstToken(const ResolvedNode& node) { return in(node) + "[:, 0]"; }

    Result<std::string> addMeanPool(const ResolvedNode& node)
    {
        const bool keeps = paramBool(node.params, kKeepDimensionsParam);
        if (node.in.size() == 1) {
            return in(node) + (node.in[0].dims.size() == 4 ? ".mean((1, 2)" : ".mean(1") +
                   (keeps ? ", keepdim=True)" : ")");
        }
        const std::string weights = in(node, 1) + ".to(" + in(node) + ").unsqueeze(-1)";
        const std::string mean = "(" + in(node) + " * " + weights + ").sum(1) / " + weights + ".sum(1).clamp_min(1)";
        return keeps ? "(" + mean + ").unsqueeze(1)" : mean;
    }
};

} // namespace

Result<GraphCode> codeOf(const Project& project, const GraphClass& made, HelperCode& helpers)
{
    return NodeWriter(project, made, helpers).write();
}

} // namespace residua::projects
