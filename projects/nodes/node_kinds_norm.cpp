// SPDX-License-Identifier: GPL-3.0-or-later
// Norms, activations and other kinds that work feature by feature. Elementwise work counts one FLOP per arithmetic
// operation or function call and element; d: features.
#include "projects/nodes/node_kind_rules.h"

#include "projects/base/mapped.h"
#include "projects/nodes/node_kinds.h"

namespace residua::projects {
namespace {

ParamSpec shareParam()
{
    return {{kShareParam, "Shares weights with",
             "Name of the norm of the same kind in this graph whose weights it uses; empty for its own. "
             "The q, k, v of a DeepCrossAttention block share one norm (section 3.2)."},
            ParamType::Text,
            std::string()};
}

ParamSpec epsilonParam(double value)
{
    return realParam("epsilon", "Epsilon", value, "Added under the root.", 0.0, 1.0);
}

ParamSpec rateParam()
{
    ParamSpec rate = realParam("rate", "Rate", 0.1, "Share of elements, or of examples, that are zeroed.", 0.0, 0.99);
    rate.alwaysShown = true;
    return rate;
}

NodeCost elementwise(Shapes out, std::int64_t context, double operations)
{
    const double elements = elementsOf(out[0], context);
    return {0, elements * operations, elements};
}

/// Square, sum, scale, weight: 4 FLOP per element.
NodeCost rmsNormCost(const ParamMap&, Shapes, Shapes out, std::int64_t context)
{
    return elementwise(out, context, 4);
}

/// Mean, centre, square, sum, scale (and weight and bias): 5 to 7 FLOP per element.
NodeCost layerNormCost(const ParamMap& p, Shapes, Shapes out, std::int64_t context)
{
    const bool isAffine = paramBool(p, "affine");
    return elementwise(out, context, !isAffine ? 5 : paramBool(p, "bias") ? 7 : 6);
}

/// Returns a weight and, if the node has one, a bias; nothing if the norm shares those of another.
std::vector<NodeParameter> normParameters(const ParamMap& p, Shapes in)
{
    std::vector<NodeParameter> parameters;
    const bool isAffine = !p.contains("affine") || paramBool(p, "affine");
    if (isAffine && paramText(p, kShareParam).empty()) {
        parameters.push_back({"weight", {in[0].features()}, ParameterClass::Vector});
        if (p.contains("bias") && paramBool(p, "bias")) {
            parameters.push_back({"bias", {in[0].features()}, ParameterClass::Vector});
        }
    }
    return parameters;
}

NodeKind batchNormKind()
{
    ParamSpec momentum =
        realParam("momentum", "Momentum", 0.1, "Share of the micro-batch's moments in the new running ones.", 0, 1);
    return {.key = "batch_norm",
            .title = "Batch norm",
            .summary = "(x − mean) / √(variance + ε) · w + b of each feature over the micro-batch",
            .traits = {.keptForReaders = true, .mixesExamples = true},
            .params = {epsilonParam(1e-5), std::move(momentum),
                       choiceParam(kMomentsParam, "Moments of", kMomentsOfRank, {kMomentsOfRank, kMomentsOfBatch},
                                   "Training on several ranks normalises by each rank's own rows, or by the whole "
                                   "micro-batch's.")},
            .shapeRule = sameShapeRule,
            .costRule = [](const ParamMap&, Shapes, Shapes out,
                           std::int64_t context) { return elementwise(out, context, 7); },
            .parametersRule =
                [](const ParamMap&, Shapes in) {
                    return std::vector<NodeParameter>{{"weight", {in[0].features()}, ParameterClass::Vector},
                                                      {"bias", {in[0].features()}, ParameterClass::Vector}};
                }};
}

ShapeRuleResult swigluShape(const ParamMap&, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "gate", 2));
    RESIDUA_TRY(requireReal(in[1], "up", 2));
    if (in[0].features() != in[1].features()) {
        return widthMismatch("up", in[1].features(), in[0].features());
    }
    return in[0] == in[1] ? ShapeRuleResult(std::vector{in[0]})
                          : Error{"up", "shape " + in[1].text() + " does not match " + in[0].text()};
}

/// Returns a single factor, one per feature, or nothing for a constant.
std::vector<NodeParameter> scaleParameters(const ParamMap& p, Shapes in)
{
    const std::string& learned = paramText(p, "learned");
    if (learned == "no") {
        return {};
    }
    return {{"factor", {learned == "scalar" ? 1 : in[0].features()}, ParameterClass::Vector}};
}

void activationMemory(const ParamMap& p, NodeTraits& traits)
{
    const Activation* const activation = findActivation(paramText(p, "function"));
    const ActivationKeeps keeps = activation != nullptr ? activation->keeps : ActivationKeeps::Input;
    traits.keepsInputs = keeps == ActivationKeeps::Input;
    traits.keptForReaders = keeps == ActivationKeeps::Input;
    traits.isView = keeps == ActivationKeeps::Nothing;
}

NodeCost activationCost(const ParamMap& p, Shapes, Shapes out, std::int64_t context)
{
    const Activation* const activation = findActivation(paramText(p, "function"));
    const bool copies = activation == nullptr || activation->keeps != ActivationKeeps::Nothing;
    return copies ? elementwise(out, context, 1) : NodeCost{};
}

/// In addition to its output, it keeps the factor of each element: 0, or 1/(1 − rate). That of each example is not
/// counted.
NodeCost dropoutCost(const ParamMap& p, Shapes, Shapes out, std::int64_t context)
{
    NodeCost cost = elementwise(out, context, 1);
    cost.activationElements *= paramText(p, kDropUnitParam) == kDropExamples ? 1 : 2;
    return cost;
}

std::vector<std::string> namesOfActivations()
{
    return mapped<std::string>(activations(), &Activation::name);
}

NodeKind activationKind()
{
    return {.key = "activation",
            .title = "Activation",
            .summary = "An elementwise non-linearity",
            .traits = {.byFeature = true},
            .memoryRule = activationMemory,
            .params = {choiceParam("function", "Function", "gelu", namesOfActivations(),
                                   "gelu is the exact one, by erf; gelu_tanh its approximation by tanh (GPT-2).")},
            .activationRule = [](const ParamMap& p, const std::string&) { return paramText(p, "function"); },
            .shapeRule = sameShapeRule,
            .costRule = activationCost};
}

NodeKind scaleKind()
{
    return {.key = "scale",
            .title = "Scale",
            .summary = "Multiplies by a constant or a learned factor",
            .traits = {.keptForReaders = true},
            .memoryRule = [](const ParamMap& p,
                             NodeTraits& traits) { traits.keepsInputs = paramText(p, "learned") != "no"; },
            .params = {realParam("value", "Value", 1.0, "The factor, or where it starts if it is learned.", -1e6, 1e6),
                       choiceParam("learned", "Learned", "no", {"no", "scalar", "per_feature"},
                                   "One learned factor, or one per feature.")},
            .shapeRule = sameShapeRule,
            .costRule = [](const ParamMap&, Shapes, Shapes out,
                           std::int64_t context) { return elementwise(out, context, 1); },
            .parametersRule = scaleParameters};
}

} // namespace

std::vector<NodeKind> normKinds()
{
    return {
        {.key = "rms_norm",
         .title = "RMS norm",
         .summary = "x / √(mean x² + ε) · w over the features",
         .traits = {.role = NodeRole::Norm, .keptForReaders = true, .sharesWeights = true},
         .params = {epsilonParam(1e-6), shareParam()},
         .shapeRule = sameShapeRule,
         .costRule = rmsNormCost,
         .parametersRule = normParameters},
        {.key = "layer_norm",
         .title = "Layer norm",
         .summary = "(x − mean) / √(variance + ε) · w (+ b) over the features",
         .traits = {.role = NodeRole::Norm, .keptForReaders = true, .sharesWeights = true},
         .params = {epsilonParam(1e-5),
                    flagParam("affine", "Weights", true, "Has learned weights; without them it only normalises."),
                    onlyWhere(flagParam("bias", "Bias", true, "Adds a learned vector to the output."),
                              {{"affine", {true}}}),
                    onlyWhere(shareParam(), {{"affine", {true}}})},
         .shapeRule = sameShapeRule,
         .costRule = layerNormCost,
         .parametersRule = normParameters},
        batchNormKind(),
        activationKind(),
        {.key = "swiglu",
         .title = "SwiGLU gate",
         .summary = "silu(gate) · up",
         .traits = {.keptForReaders = true, .byFeature = true},
         .inputs = {"gate", "up"},
         .activationRule = [](const ParamMap&, const std::string& port) { return port == "gate" ? "silu" : ""; },
         .shapeRule = swigluShape,
         .costRule = [](const ParamMap&, Shapes, Shapes out,
                        std::int64_t context) { return elementwise(out, context, 2); }},
        {.key = "dropout",
         .title = "Dropout",
         .summary = "Zeroes elements or examples while training and scales the rest up",
         .traits = {.keepsInputs = false,
                    .keptForReaders = true,
                    .passesResidual = true,
                    .byFeature = true,
                    .onlyInTraining = true},
         .params = {rateParam(),
                    choiceParam(kDropUnitParam, "Zeroes", kDropElements, {kDropElements, kDropExamples},
                                "Elements, or whole examples: stochastic depth by example if it ends a branch."),
                    onlyWhere(realParam(kLastRateParam, "Rate of the last layer", 0.0,
                                        "The rates of the stack's layers rise evenly to it from that of the first; 0: "
                                        "all have the rate.",
                                        0.0, 0.99),
                              {{kDropUnitParam, {std::string(kDropExamples)}}})},
         .shapeRule = sameShapeRule,
         .costRule = dropoutCost},
        scaleKind(),
    };
}

} // namespace residua::projects
