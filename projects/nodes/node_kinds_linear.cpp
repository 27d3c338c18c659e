// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds that compute a matrix product. i: input features, o: output features, P: positions per token or sample (1 for
// vectors and tokens, height · width for images).
#include "projects/nodes/node_kind_rules.h"

namespace residua::projects {
namespace {

double biasOf(const ParamMap& p, std::int64_t out)
{
    return paramBool(p, "bias") ? real(out) : 0.0;
}

ParamSpec outParam()
{
    return integerParam("out", "Output features", std::string("d"), "features",
                        "Features of the output; a number or a formula over the named sizes.");
}

ParamSpec biasParam(bool value)
{
    return flagParam("bias", "Bias", value, "Adds a learned vector to the output.");
}

ShapeRuleResult featuresToOut(const ParamMap& p, Shapes in)
{
    const Status ok = requireReal(in[0], "in", 2);
    return ok ? ShapeRuleResult(std::vector{withFeatures(in[0], paramInt(p, "out"))}) : ok.error();
}

/// Returns a weight [out, `inner`…] and, if the node has one, a bias.
std::vector<NodeParameter> weightAndBias(const ParamMap& p, std::vector<std::int64_t> inner, std::string rank = {})
{
    inner.insert(inner.begin(), paramInt(p, "out"));
    std::vector<NodeParameter> parameters = {{.name = "weight", .shape = std::move(inner), .rank = std::move(rank)}};
    if (paramBool(p, "bias")) {
        parameters.push_back({"bias", {paramInt(p, "out")}, ParameterClass::Vector});
    }
    return parameters;
}

/// A weight [o, i] at each position: 2·i·o FLOP. Below full rank, the r inner features are kept too.
NodeCost weightCost(const ParamMap& p, std::int64_t i, double elements)
{
    const std::int64_t o = paramInt(p, "out");
    const double positions = elements / real(o);
    const double weights = weightsOf(p, "rank", o, i);
    const double inner = positions * real(rankOf(p, "rank", o, i).value_or(0));
    return {0, positions * (2 * weights + biasOf(p, o)), elements + inner};
}

NodeCost linearCost(const ParamMap& p, Shapes in, Shapes out, std::int64_t context)
{
    return weightCost(p, in[0].features(), elementsOf(out[0], context));
}

/// `taps` kernel taps over i/groups channels each: 2·(i/groups)·taps FLOP per output (+ 1).
NodeCost convolutionCost(const ParamMap& p, double channels, double taps, const Shape& out, std::int64_t context)
{
    const double perOutput = channels / real(paramInt(p, kGroupsParam)) * taps;
    const double elements = elementsOf(out, context);
    return {0, elements * (2 * perOutput + (paramBool(p, "bias") ? 1 : 0)), elements};
}

Status checkGroups(const ParamMap& p, std::int64_t channels)
{
    const std::int64_t groups = paramInt(p, kGroupsParam);
    if (channels % groups != 0 || paramInt(p, "out") % groups != 0) {
        return Error{"", std::to_string(channels) + " input and " + std::to_string(paramInt(p, "out")) +
                             " output channels are not multiples of " + std::to_string(groups) +
                             " groups: expected a divisor of both"};
    }
    return Done{};
}

ShapeRuleResult conv1dShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireSequence(in[0], "in"));
    const Status groups = checkGroups(p, in[0].features());
    return groups ? ShapeRuleResult(std::vector{withFeatures(in[0], paramInt(p, "out"))}) : groups.error();
}

/// Factors by side: r channels of `kernel` columns each at every row of the input, then `kernel` rows of those.
NodeCost sidesCost(const ParamMap& p, const Shape& image, const Shape& out, std::int64_t rank, std::int64_t context)
{
    const double kernel = real(paramInt(p, "kernel"));
    const Shape middle{{image.dims[0], rank, image.dims[2], out.dims[3]}};
    const double inner = elementsOf(middle, context);
    const double elements = elementsOf(out, context);
    const double perOutput = 2 * real(rank) * kernel + (paramBool(p, "bias") ? 1 : 0);
    return {0, inner * 2 * real(image.dims[1]) * kernel + elements * perOutput, elements + inner};
}

std::vector<NodeParameter> conv2dParameters(const ParamMap& p, Shapes in)
{
    const std::int64_t side = paramInt(p, "kernel");
    std::vector<NodeParameter> parameters =
        weightAndBias(p, {channelsFirst(p, in[0]).dims[1] / paramInt(p, kGroupsParam), side, side}, "rank");
    parameters.front().bySide = unfoldsBySide(p);
    return parameters;
}

NodeCost conv2dCost(const ParamMap& p, Shapes in, Shapes out, std::int64_t context)
{
    const std::int64_t area = paramInt(p, "kernel") * paramInt(p, "kernel");
    const Shape image = channelsFirst(p, in[0]);
    if (paramInt(p, kGroupsParam) > 1) {
        return convolutionCost(p, real(image.dims[1]), real(area), out[0], context);
    }
    const NodeParameter weight = conv2dParameters(p, in).front();
    const auto rank = rankOf(p, "rank", weight.out(), weight.in());
    return rank && weight.bySide ? sidesCost(p, image, channelsFirst(p, out[0]), *rank, context)
                                 : weightCost(p, image.dims[1] * area, elementsOf(out[0], context));
}

ShapeRuleResult conv2dShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireImage(p, in[0]));
    RESIDUA_TRY(checkGroups(p, channelsFirst(p, in[0]).dims[1]));
    if (rankOf(p, "rank", 1, 1) && paramInt(p, kGroupsParam) > 1) {
        return Error{"", "a convolution in " + std::to_string(paramInt(p, kGroupsParam)) +
                             " groups has no rank below full: expected full, or one group"};
    }
    Result<Shape> out = windowedImage(p, in[0], paramInt(p, "out"));
    return out ? ShapeRuleResult(std::vector{*std::move(out)}) : out.error();
}

ShapeRuleResult patchifyShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireImage(p, in[0]));
    const std::int64_t patch = paramInt(p, "patch");
    if (in[0].dims[2] % patch != 0 || in[0].dims[3] % patch != 0) {
        return Error{"in", "sides of " + in[0].text() + " are not multiples of the patch " + std::to_string(patch)};
    }
    return std::vector{Shape{{in[0].dims[0], in[0].dims[2] / patch * (in[0].dims[3] / patch), paramInt(p, "out")}}};
}

/// Returns the cost of a linear layer over the patch's i·patch² values.
NodeCost patchifyCost(const ParamMap& p, Shapes in, Shapes out, std::int64_t context)
{
    const double values = real(in[0].dims[1]) * real(paramInt(p, "patch")) * real(paramInt(p, "patch"));
    const double elements = elementsOf(out[0], context);
    return {0, elements * (2 * values + (paramBool(p, "bias") ? 1 : 0)), elements};
}

NodeKind conv1dKind()
{
    return {.key = "conv1d",
            .title = "Convolution over time",
            .summary = "Mixes neighbouring tokens; keeps the length",
            .traits = {.keptForReaders = true, .multiplies = true},
            .params = {outParam(),
                       integerParam("kernel", "Kernel", std::int64_t{3}, "tokens", "Tokens that are mixed.", 1, 1024),
                       integerParam(kGroupsParam, "Groups", std::int64_t{1}, "",
                                    "Channel groups; as many as features makes it depthwise."),
                       flagParam("causal", "Causal", true, "Reads this token and earlier ones only."), biasParam(true)},
            .shapeRule = conv1dShape,
            .costRule =
                [](const ParamMap& p, Shapes in, Shapes out, std::int64_t context) {
                    return convolutionCost(p, real(in[0].features()), real(paramInt(p, "kernel")), out[0], context);
                },
            .parametersRule =
                [](const ParamMap& p, Shapes in) {
                    return weightAndBias(p, {in[0].features() / paramInt(p, kGroupsParam), paramInt(p, "kernel")});
                }};
}

/// Each group has a matrix of its own, so the network's rank does not apply to groups.
ParamSpec convolutionRank()
{
    ParamSpec rank = rankParam("rank", "Rank of the weight");
    rank.networkRankWhere = {{kGroupsParam, {std::int64_t{1}}}};
    return rank;
}

NodeKind conv2dKind()
{
    return {
        .key = "conv2d",
        .title = "Convolution",
        .summary = "Square convolution over an image",
        .traits = {.keptForReaders = true, .multiplies = true},
        .params = {integerParam("out", "Output channels", std::string("d"), "channels", "Channels of the output."),
                   integerParam("kernel", "Kernel", std::int64_t{3}, "pixels", "Side of the square kernel.", 1, 1024),
                   integerParam("stride", "Stride", std::int64_t{1}, "pixels", "Step between outputs.", 1, 1024),
                   integerParam("padding", "Padding", std::int64_t{1}, "pixels",
                                "Zeros around the input; 1 keeps the size of a kernel of 3.", 0, 1024),
                   integerParam(kGroupsParam, "Groups", std::int64_t{1}, "", "Channel groups."), biasParam(false),
                   convolutionRank(),
                   onlyWhere(choiceParam(kUnfoldingParam, "Unfolding", kWholeKernel, {kWholeKernel, kBySide},
                                         "The matrix that the rank is of: C_out × (C_in · kernel²), or by side (C_out "
                                         "· kernel) × (C_in · kernel), as Khodak et al. have it."),
                             {{kGroupsParam, {std::int64_t{1}}}}),
                   layoutParam()},
        .shapeRule = conv2dShape,
        .costRule = conv2dCost,
        .parametersRule = conv2dParameters};
}

} // namespace

std::vector<NodeKind> linearKinds()
{
    return {
        {.key = "linear",
         .title = "Linear",
         .summary = "y = x Wᵀ (+ b)",
         .traits = {.role = NodeRole::Linear, .keptForReaders = true, .multiplies = true},
         .params = {outParam(), biasParam(false),
                    realParam("start", "Start", 1.0,
                              "Factor on the initial matrix: 0 starts this layer at zero, whatever the law.", -1e6,
                              1e6),
                    rankParam("rank", "Rank")},
         .shapeRule = featuresToOut,
         .costRule = linearCost,
         .parametersRule = [](const ParamMap& p, Shapes in) { return weightAndBias(p, {in[0].features()}, "rank"); }},
        conv1dKind(),
        conv2dKind(),
        {.key = "patchify",
         .title = "Patches",
         .summary = "Cuts an image into square patches and embeds each",
         .traits = {.keptForReaders = true, .multiplies = true},
         .params = {outParam(),
                    integerParam("patch", "Patch side", std::int64_t{4}, "pixels",
                                 "Side of a patch: 2 in DiT, 16 in ViT-S/16.", 1, 1024),
                    biasParam(true)},
         .shapeRule = patchifyShape,
         .costRule = patchifyCost,
         .parametersRule =
             [](const ParamMap& p, Shapes in) {
                 return weightAndBias(p, {in[0].dims[1], paramInt(p, "patch"), paramInt(p, "patch")});
             }},
    };
}

} // namespace residua::projects
