// SPDX-License-Identifier: GPL-3.0-or-later
// The kind attention.
#include "projects/base/mapped.h"
#include "projects/base/text.h"
#include "projects/model/parameter_name.h"
#include "projects/nodes/attention_features.h"
#include "projects/nodes/attention_options.h"
#include "projects/nodes/node_kind_rules.h"

#include <algorithm>
#include <iterator>

namespace residua::projects {
namespace {

/// Rejects a window without causal attention. Rejects a window, a mask and dropout if weights are computed by features.
Status checkWeights(const ParamMap& p)
{
    if (paramInt(p, kWindowParam) > 0 && !paramBool(p, "causal")) {
        return Error{"", "parameter window: it counts earlier tokens, and without causal a token sees later ones too: "
                         "expected 0, or causal"};
    }
    if (usesFeatures(p) && paramInt(p, kWindowParam) > 0) {
        return Error{"", "parameter window: a performer sums over all earlier tokens: expected 0, or weights by "
                         "softmax"};
    }
    if (usesFeatures(p) && paramBool(p, kMaskedParam)) {
        return Error{"", "parameter masked: a performer sums over all tokens: expected false, or weights by softmax"};
    }
    if (usesFeatures(p) && paramDouble(p, "dropout") > 0) {
        return Error{"", "parameter dropout: it leaves out single attention weights, which a performer never forms: "
                         "expected 0, or weights by softmax"};
    }
    return Done{};
}

Status checkPositions(const ParamMap& p, std::int64_t headDim)
{
    const RotaryPositions positions = rotaryOf(p, headDim);
    if (!paramBool(p, kRopeParam)) {
        return Done{};
    }
    if (positions.features == headDim && headDim % 2 != 0) {
        return Error{"", "rotary positions need an even number of features per head, got " + std::to_string(headDim)};
    }
    if (positions.features % 2 != 0 || positions.features == 0) {
        return Error{"", "parameter rotary_share: " + std::to_string(positions.features) + " of " +
                             std::to_string(headDim) +
                             " features per head would rotate: expected an even number of "
                             "at least 2"};
    }
    if (positions.scaling == RopeScaling::Llama3 && !(positions.high > positions.low)) {
        return Error{"", "parameter rope_high_frequency: got " + numberText(positions.high) +
                             ", expected more than rope_low_frequency, which is " + numberText(positions.low)};
    }
    return Done{};
}

Status checkHeads(const ParamMap& p, std::int64_t width)
{
    const std::int64_t heads = paramInt(p, "heads");
    if (width % heads != 0 && paramInt(p, "head_dim") == 0) {
        return Error{"", "width " + std::to_string(width) + " is not a multiple of " + std::to_string(heads) +
                             " heads; give the features per head to choose them freely"};
    }
    const AttentionSizes sizes = attentionSizesOf(p, width);
    if (heads % sizes.kvHeads != 0) {
        return Error{"", std::to_string(heads) + " heads are not a multiple of " + std::to_string(sizes.kvHeads) +
                             " key-value heads"};
    }
    const Status weights = checkWeights(p);
    return weights ? checkPositions(p, sizes.headDim) : weights;
}

/// Returns the input ports of an attention, named as the mixes that a topology can feed them.
std::vector<std::string> attentionPorts()
{
    return mapped<std::string>(portsOf(MixPorts::Qkv), [](const MixPort port) { return nameOf(port); });
}

ShapeRuleResult attentionShape(const ParamMap& p, Shapes in)
{
    const std::vector<std::string> ports = attentionPorts();
    for (std::size_t i = 0; i < ports.size(); ++i) {
        RESIDUA_TRY(requireSequence(in[i], ports[i]));
        if (in[i].features() != in[0].features()) {
            return widthMismatch(ports[i], in[i].features(), in[0].features());
        }
    }
    RESIDUA_TRY(checkMask(in[0], in, ports.size()));
    const Status heads = checkHeads(p, in[0].features());
    return heads ? ShapeRuleResult(std::vector{in[0]}) : heads.error();
}

std::vector<NodeParameter> projectionsOf(const ParamMap& p, std::int64_t width)
{
    const AttentionSizes sizes = attentionSizesOf(p, width);
    const std::int64_t a = sizes.heads * sizes.headDim;
    const std::int64_t m = sizes.kvHeads * sizes.headDim;
    return {{.name = "q.weight", .shape = {a, width}, .rank = "q_rank", .atOutput = false},
            {.name = "k.weight", .shape = {m, width}, .rank = "k_rank", .atOutput = false},
            {.name = "v.weight", .shape = {m, width}, .rank = "v_rank", .atOutput = false},
            {.name = "out.weight", .shape = {width, a}, .rank = "out_rank"}};
}

/// Returns the projections and their biases, the gains of the norms of queries and keys over a head or over all heads,
/// and the features of a Performer.
std::vector<NodeParameter> attentionParameters(const ParamMap& p, Shapes in)
{
    const std::int64_t width = in[0].features();
    const AttentionSizes sizes = attentionSizesOf(p, width);
    std::vector<NodeParameter> parameters = projectionsOf(p, width);
    const std::vector<NodeParameter> projections = parameters;
    const auto addVector = [&](std::string name, std::vector<std::int64_t> shape) {
        parameters.push_back({std::move(name), std::move(shape), ParameterClass::Vector});
    };
    for (const NodeParameter& projection : projections) {
        if (hasBias(p, ownerOf(projection.name))) {
            addVector(siblingOf(projection.name, "bias"), {projection.out()});
        }
    }
    if (const QkNorm norm = qkNormOf(p); norm != QkNorm::None) {
        const bool all = norm == QkNorm::AllHeads;
        addVector("q_norm.weight", {(all ? sizes.heads : 1) * sizes.headDim});
        addVector("k_norm.weight", {(all ? sizes.kvHeads : 1) * sizes.headDim});
    }
    if (usesFeatures(p)) {
        addVector("features", {sizes.kvHeads, paramInt(p, kFeaturesParam), sizes.headDim});
    }
    return parameters;
}

/// The cost of the attention of one token without the projections: FLOP and kept elements.
/// With softmax, the FLOP are 2·a for the scores and 2·a for the values per visible key. Kept: q and the heads' output
/// (a each), k and v (m each), the log-sum per head.
NodeCost softmaxCost(const ParamMap& p, const AttentionSizes& sizes, std::int64_t context)
{
    const double a = real(sizes.heads) * real(sizes.headDim);
    const double m = real(sizes.kvHeads) * real(sizes.headDim);
    return {0, 4 * a * keysSeen(p, context), 2 * a + 2 * m + real(sizes.heads)};
}

/// With r features, separate for each key-value head: 2·e·r FLOP for the features of each query and key, and 2·r·(e +
/// 1) for each key's part of the sums (the values and a one, for the normalisation) and for each query's reading of
/// them. Causal attention also forms the pairs of tokens within a chunk, 2·r + 2·(e + 1) each, and the sums before the
/// chunk. Kept: queries, keys, values, features, pairs, sums, the heads' output before and after its division, and ω
/// once per example and head.
NodeCost featureCost(const ParamMap& p, const AttentionSizes& sizes, std::int64_t context)
{
    const double heads = real(sizes.heads);
    const double kvHeads = real(sizes.kvHeads);
    const double e = real(sizes.headDim);
    const double r = real(paramInt(p, kFeaturesParam));
    const bool causal = paramBool(p, "causal");
    const double time = real(std::max<std::int64_t>(context, 1));
    const double chunk = causal ? std::min(real(kFeatureChunk), time) : time;
    const double pairs = causal ? chunkPairs(context) : 0;
    const double summed = causal ? 1 - chunk / time : 1; // the share of tokens with sums before them
    const double flops = (heads + kvHeads) * 2 * r * (e + summed * (e + 1)) + heads * pairs * 2 * (r + e + 1);
    const double sums = causal ? std::max(time / chunk - 1, 0.0) / time : 1 / time;
    const double kept = (2 * heads + 2 * kvHeads) * e + heads + kvHeads + (heads + kvHeads) * r + heads * pairs +
                        kvHeads * sums * r * (e + 1) + heads * e + (heads + kvHeads) * r * e / time;
    return {0, flops, kept};
}

/// The cost of one token is multiplied by the tokens in a unit. With a = heads · headDim and m = kvHeads · headDim, the
/// projections have 2·d·a + 2·d·m weights. FLOP: twice the weights, the biases, and the attention. Kept: the
/// attention's elements, the output, and the inner features of a projection below full rank.
NodeCost attentionCost(const ParamMap& p, Shapes in, Shapes out, std::int64_t context)
{
    const AttentionSizes sizes = attentionSizesOf(p, in[0].features());
    const double elements = elementsOf(out[0], context);
    const double tokens = elements / real(out[0].features());
    const std::int64_t length = in[0].dims[1] > 0 ? in[0].dims[1] : context;
    const double d = real(in[0].features());
    const double a = real(sizes.heads) * real(sizes.headDim);
    const double m = real(sizes.kvHeads) * real(sizes.headDim);
    double projections = 0;
    double inner = 0;
    for (const NodeParameter& projection : projectionsOf(p, in[0].features())) {
        projections += weightsOf(p, projection.rank, projection.out(), projection.in());
        inner += real(rankOf(p, projection.rank, projection.out(), projection.in()).value_or(0));
    }
    const double biases = (hasBias(p, "q") ? a + m : 0) + (hasBias(p, "v") ? m : 0) + (hasBias(p, "out") ? d : 0);
    NodeCost attends = usesFeatures(p) ? featureCost(p, sizes, length) : softmaxCost(p, sizes, length);
    attends.activationElements += paramBool(p, kMaskedParam) ? real(length) : 0; // what is added to the scores
    return {0, tokens * (2 * projections + biases + attends.flops),
            tokens * (attends.activationElements + inner) + elements};
}

/// Returns the parameters of rotary positions of queries and keys.
std::vector<ParamSpec> rotarySpecs()
{
    const std::vector<ParamCondition> rotates = {{kRopeParam, {true}}};
    const auto under = [](std::vector<ParamValue> scalings) {
        return std::vector<ParamCondition>{{kRopeParam, {true}}, {kRopeScalingParam, std::move(scalings)}};
    };
    const RotaryPositions usual;
    const std::string linear = kLinearScaling;
    const std::string llama3 = kLlama3Scaling;
    return {
        flagParam(kRopeParam, "Rotary positions", true, "Rotates queries and keys by their position (LLaMA)."),
        onlyWhere(realParam(kRopeBaseParam, "Rotary base", usual.base, "10000 in the LLaMA runs of ANCRe.", 1.0, 1e9),
                  rotates),
        onlyWhere(realParam(kRotaryShareParam, "Rotating share", 1.0,
                            "Share of a head's features that rotate, the first of them: 0.25 in Pythia.", 1e-6, 1.0),
                  rotates),
        onlyWhere(choiceParam(kRopeScalingParam, "Rotary scaling", kNoScaling,
                              {kNoScaling, kLinearScaling, kLlama3Scaling},
                              "Slows rotation for longer sequences: at all frequencies alike, or at low ones "
                              "(Llama 3.1)."),
                  rotates),
        onlyWhere(realParam(kRopeFactorParam, "Rotary factor", usual.factor, "How many times slower: 8 in Llama 3.1.",
                            1.0, 1e6),
                  under({linear, llama3})),
        onlyWhere(realParam(kRopeLowParam, "Low frequency", usual.low,
                            "Turns within the original length below which the factor counts in full: 1 in Llama 3.1.",
                            1e-6, 1e6),
                  under({llama3})),
        onlyWhere(realParam(kRopeHighParam, "High frequency", usual.high,
                            "Turns within the original length above which nothing is slowed: 4 in Llama 3.1.", 1e-6,
                            1e6),
                  under({llama3})),
        onlyWhere(integerParam(kRopeOriginalParam, "Original length", usual.original, "tokens",
                               "Sequence length of the training before the scaling: 8192 in Llama 3.1."),
                  under({llama3})),
    };
}

std::vector<ParamSpec> attentionParams()
{
    const std::vector<ParamCondition> normed = {{kQkNormParam, {std::string(kHeadNorm), std::string(kAllHeadsNorm)}}};
    const std::vector<ParamCondition> bySoftmax = {{kWeightsParam, {std::string(kSoftmaxWeights)}}};
    const std::vector<ParamCondition> byFeatures = {{kWeightsParam, {std::string(kPerformerWeights)}}};
    std::vector<ParamSpec> params = {
        integerParam("heads", "Heads", std::int64_t{4}, "heads",
                     "Must divide the width, unless the features per head are given."),
        integerParam("head_dim", "Features per head", std::int64_t{0}, "features",
                     "0: the width over the heads. Others make the inner width heads times that.", 0),
        integerParam("kv_heads", "Key-value heads", std::int64_t{0}, "heads",
                     "Fewer than heads shares keys and values among them; 0 is as many.", 0),
        flagParam("causal", "Causal", true, "A token sees itself and earlier ones only."),
        maskedParam(),
        onlyWhere(integerParam(kWindowParam, "Window", std::int64_t{0}, "tokens",
                               "Most tokens that one sees, itself among them; 0: no bound. 4096 in Mistral 7B.", 0),
                  {{"causal", {true}}, bySoftmax.front()}),
    };
    std::ranges::move(rotarySpecs(), std::back_inserter(params));
    std::vector<ParamSpec> rest = {
        choiceParam(kQkNormParam, "Query and key norm", kNoQkNorm, {kNoQkNorm, kHeadNorm, kAllHeadsNorm},
                    "An RMS norm of queries and keys: over each head's features (Qwen3), or over all heads' (OLMo 2)."),
        onlyWhere(realParam("norm_eps", "Norm epsilon", 1e-6, "Added under the root in these norms.", 0.0, 1.0),
                  normed),
        choiceParam(kBiasParam, "Bias", kNoBias, {kNoBias, kQkBias, kQkvBias, kAllBiases},
                    "Biases on the projections that make q and k (Huginn), v too (Qwen2), or the output too (GPT-2)."),
        onlyWhere(realParam("dropout", "Dropout", 0.0, "On the attention weights, while training.", 0.0, 0.99),
                  bySoftmax),
        choiceParam(kWeightsParam, "Attention weights", kSoftmaxWeights, {kSoftmaxWeights, kPerformerWeights},
                    "softmax, or its approximation by positive features (performer), linear in the length."),
        onlyWhere(integerParam(kFeaturesParam, "Features", std::int64_t{64}, "features",
                               "Of a performer, for each key-value head: more approximate the softmax more closely.", 1,
                               1e6),
                  byFeatures),
        onlyWhere(choiceParam(kFeaturesStartParam, "Features start", kFittedFeatures, {kFittedFeatures, kDrawnFeatures},
                              "Of a performer: fitted to the softmax's weights (appendix B of the paper on low-rank "
                              "initialisation), or as they are drawn."),
                  byFeatures),
        rankParam("q_rank", "Rank of queries"),
        rankParam("k_rank", "Rank of keys"),
        rankParam("v_rank", "Rank of values"),
        rankParam("out_rank", "Rank of the output"),
    };
    std::ranges::move(rest, std::back_inserter(params));
    return params;
}

} // namespace

std::vector<std::string> withPort(std::vector<std::string> ports, const Node& node, const char* param, const char* port)
{
    const auto flag = node.params.find(param);
    if (flag != node.params.end() && flag->second == ParamValue(true)) {
        ports.emplace_back(port);
    }
    return ports;
}

Status checkMask(const Shape& sequence, Shapes in, std::size_t others)
{
    const Shape expected{{sequence.dims[0], sequence.dims[1]}};
    return in.size() == others || in[others] == expected
               ? Status(Done{})
               : Error{kMaskPort, "got " + in[others].text() + ", expected " + expected.text()};
}

ParamSpec maskedParam()
{
    return flagParam(kMaskedParam, "Padding mask", false,
                     "Adds the port mask: [batch, time], 1 for a token and 0 for padding, which is then not read.");
}

NodeKind attentionKind()
{
    return {.key = "attention",
            .title = "Attention",
            .category = "Sequence",
            .summary = "Multi-head attention with its query, key, value and output projections",
            .traits = {.role = NodeRole::Attention, .keptForReaders = true, .multiplies = true},
            .inputs = attentionPorts(),
            .params = attentionParams(),
            .inputRule = [](const Node& node) { return withPort(attentionPorts(), node, kMaskedParam, kMaskPort); },
            .shapeRule = attentionShape,
            .costRule = attentionCost,
            .parametersRule = attentionParameters};
}

} // namespace residua::projects
