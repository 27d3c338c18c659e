// SPDX-License-Identifier: GPL-3.0-or-later
// The graph's own ports, and kinds that combine their inputs.
#include "projects/nodes/expression.h"
#include "projects/nodes/node_kind_rules.h"

namespace residua::projects {
namespace {

constexpr const char* kStartParam = "start";
constexpr const char* kConstantStart = "constant";

ShapeRuleResult meetAll(const ParamMap&, Shapes in)
{
    Shape shape;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::string port = "in" + std::to_string(i + 1);
        RESIDUA_TRY(requireValue(in[i], port));
        shape = RESIDUA_TRY(meet(shape, in[i], port));
    }
    return std::vector{shape};
}

ShapeRuleResult concatShape(const ParamMap&, Shapes in)
{
    std::int64_t features = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const std::string port = "in" + std::to_string(i + 1);
        RESIDUA_TRY(requireReal(in[i], port, 2));
        if (withFeatures(in[i], 1) != withFeatures(in[0], 1)) {
            return Error{port, "shape " + in[i].text() + " does not match " + in[0].text() + " before the features"};
        }
        features = countOf(static_cast<double>(features) + static_cast<double>(in[i].features()));
    }
    return std::vector{withFeatures(in[0], features)};
}

ShapeRuleResult sliceShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 2));
    const std::int64_t end = paramInt(p, "first") + paramInt(p, "count");
    if (end > in[0].features()) {
        return Error{"in", "has " + std::to_string(in[0].features()) + " features, expected at least " +
                               std::to_string(end) + ", the end of the slice"};
    }
    return std::vector{withFeatures(in[0], paramInt(p, "count"))};
}

ShapeRuleResult flattenShape(const ParamMap&, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 2));
    double features = 1;
    for (std::size_t i = 1; i < in[0].dims.size(); ++i) {
        if (in[0].dims[i] < 0) {
            return Error{"in", "got " + in[0].text() + ", expected dimensions of known size after batch"};
        }
        features *= static_cast<double>(in[0].dims[i]);
    }
    return std::vector{Shape{{in[0].dims[0], countOf(features)}}};
}

/// n − 1 FLOP per element for n inputs.
NodeCost combineCost(const ParamMap&, Shapes in, Shapes out, std::int64_t context)
{
    const double elements = elementsOf(out[0], context);
    return {0, elements * static_cast<double>(in.size() - 1), elements};
}

/// Returns the shape of a formula's value; a number has no dimensions. Adds the elements of every intermediate value to
/// `operations`, which are their FLOP, and those that the backward pass does not need to `unkept`: of a sum or a
/// product that is added to something.
Result<Shape> formulaShape(const Expression& e, const std::map<std::string, Shape>& ports, std::int64_t context,
                           double& operations, double& unkept)
{
    const auto adds = [](Op op) { return op == Op::Add || op == Op::Subtract || op == Op::Negate; };
    if (e.op == Op::Number) {
        return Shape{};
    }
    if (e.op == Op::Name) {
        return ports.at(e.name);
    }
    Shape shape;
    for (const Expression& arg : e.args) {
        const Shape part = RESIDUA_TRY(formulaShape(arg, ports, context, operations, unkept));
        if (adds(e.op) && (adds(arg.op) || arg.op == Op::Multiply) && !part.dims.empty()) {
            unkept += elementsOf(part, context);
        }
        shape = RESIDUA_TRY(meet(shape, part, ""));
    }
    if (!shape.dims.empty()) {
        operations += elementsOf(shape, context);
        shape = e.name == "mean" && e.op == Op::Call ? withFeatures(shape, 1) : shape;
    }
    return shape;
}

struct FormulaResult {
    Shape shape;
    double operations = 0;
    double unkept = 0;
};

Result<FormulaResult> readFormula(const ParamMap& p, Shapes in, std::int64_t context)
{
    const Result<Expression> formula = parseExpression(paramText(p, "formula"));
    if (!formula) {
        return Error{"", "formula " + (formula.error().place.empty() ? "" : formula.error().place + ": ") +
                             formula.error().message};
    }
    std::map<std::string, Shape> ports;
    for (const std::string& name : namesIn(*formula)) {
        const Shape& shape = in[ports.size()];
        RESIDUA_TRY(requireValue(shape, name));
        ports.emplace(name, shape);
    }
    FormulaResult result;
    const Shape shape = RESIDUA_TRY(formulaShape(*formula, ports, context, result.operations, result.unkept));
    if (shape.dims.empty()) {
        return Error{"", "formula " + paramText(p, "formula") + " reads no input"};
    }
    result.shape = shape;
    return result;
}

ShapeRuleResult expressionShape(const ParamMap& p, Shapes in)
{
    const Result<FormulaResult> result = readFormula(p, in, 1);
    return result ? ShapeRuleResult(std::vector{result->shape}) : result.error();
}

/// One FLOP per operator, function and element.
NodeCost expressionCost(const ParamMap& p, Shapes in, Shapes, std::int64_t context)
{
    const Result<FormulaResult> result = readFormula(p, in, context);
    return result ? NodeCost{0, result->operations, result->operations - result->unkept} : NodeCost{};
}

/// Returns the names in the formula.
std::vector<std::string> formulaPorts(const Node& node)
{
    const auto it = node.params.find("formula");
    const auto* const text = it == node.params.end() ? nullptr : std::get_if<std::string>(&it->second);
    if (it != node.params.end() && !text) {
        return {};
    }
    const Result<Expression> formula = parseExpression(text ? *text : kDefaultFormula);
    return formula ? namesIn(*formula) : std::vector<std::string>{};
}

ParamSpec portParam(const std::string& value, std::string_view help)
{
    return {{kPortParam, "Port", help}, ParamType::Text, value};
}

/// Returns a vector's values as an image, row by row within a channel.
ShapeRuleResult imageShape(const ParamMap& p, Shapes in)
{
    RESIDUA_TRY(requireReal(in[0], "in", 2, 2));
    const std::int64_t channels = paramInt(p, "channels");
    const std::int64_t height = paramInt(p, "height");
    const std::int64_t width = paramInt(p, "width");
    const std::int64_t values =
        countOf(static_cast<double>(channels) * static_cast<double>(height) * static_cast<double>(width));
    if (values != in[0].features()) {
        return Error{"in", "got " + in[0].text() + ", expected " + std::to_string(values) +
                               " features: " + std::to_string(channels) + " channels of " + std::to_string(height) +
                               " by " + std::to_string(width)};
    }
    return std::vector{Shape{{in[0].dims[0], channels, height, width}}};
}

NodeKind imageKind()
{
    return {.key = "image",
            .title = "Image",
            .summary = "Features become [batch, channels, height, width]",
            .traits = {.keepsInputs = false, .isView = true},
            .params = {integerParam("channels", "Channels", std::int64_t{1}, "channels", "Channels of the image."),
                       integerParam("height", "Height", std::int64_t{8}, "pixels",
                                    "Rows; channels · height · width are the input's features."),
                       integerParam("width", "Width", std::int64_t{8}, "pixels", "Columns.")},
            .shapeRule = imageShape};
}

/// Returns [features] or, with rows, [rows, features].
std::vector<std::int64_t> learnedShape(const ParamMap& p)
{
    std::vector<std::int64_t> shape{paramInt(p, "features")};
    if (const std::int64_t rows = paramInt(p, "rows"); rows > 0) {
        shape.insert(shape.begin(), rows);
    }
    return shape;
}

NodeKind parameterKind()
{
    return {
        .key = "parameter",
        .title = "Parameter",
        .summary = "A learned number, vector or table, the same for every example",
        .traits = {.keepsInputs = false},
        .inputs = {},
        .params = {integerParam("features", "Features", std::int64_t{1}, "features",
                                "Size of the last dimension; 1 is a learned number."),
                   integerParam("rows", "Rows", std::int64_t{0}, "rows",
                                "Size of a dimension before the features; 0: there is none.", 0),
                   choiceParam(kStartParam, "Starts", kConstantStart, {kConstantStart, "normal"},
                               "Every element at the value, or drawn around 0 by the deviation."),
                   onlyWhere(realParam("value", "Value", 1.0, "Every element at the start.", -1e6, 1e6),
                             {{kStartParam, {std::string(kConstantStart)}}}),
                   onlyWhere(realParam("deviation", "Deviation", 0.02, "Standard deviation of the start.", 0, 1e6),
                             {{kStartParam, {std::string("normal")}}})},
        .shapeRule = [](const ParamMap& p, Shapes) -> ShapeRuleResult { return std::vector{Shape{learnedShape(p)}}; },
        .parametersRule =
            [](const ParamMap& p, Shapes) {
                return std::vector<NodeParameter>{{"value", learnedShape(p), ParameterClass::Vector}};
            }};
}

} // namespace

std::vector<NodeKind> portKinds()
{
    return {
        {.key = "input",
         .title = "Input",
         .summary = "What enters the graph",
         .traits = {.role = NodeRole::GraphInput},
         .inputs = {},
         .params = {portParam(
             kInputPort,
             "The graph's port: input, or q, k, v and residual in a block whose topology feeds them apart.")},
         .shapeRule = [](const ParamMap&, Shapes) -> ShapeRuleResult {
             return Error{"", "an input takes its shape from outside the graph"};
         }},
        {.key = "output",
         .title = "Output",
         .summary = "What leaves the graph; a block's is its branch",
         .traits = {.role = NodeRole::GraphOutput, .passesResidual = true},
         .outputs = {},
         .params = {portParam(kOutputPort, "The graph's port.")},
         .shapeRule = [](const ParamMap&, Shapes) -> ShapeRuleResult { return std::vector<Shape>{}; }},
    };
}

std::vector<NodeKind> arithmeticKinds()
{
    return {
        {.key = "add",
         .title = "Add",
         .summary = "Sum of its inputs",
         .traits = {.role = NodeRole::Sum, .keepsInputs = false, .keptForReaders = true, .passesResidual = true},
         .inputs = {"in*"},
         .shapeRule = meetAll,
         .costRule = combineCost},
        {.key = "multiply",
         .title = "Multiply",
         .summary = "Product of its inputs, element by element",
         .traits = {.keptForReaders = true, .byFeature = true},
         .inputs = {"in*"},
         .shapeRule = meetAll,
         .costRule = combineCost},
        {.key = "concat",
         .title = "Concatenate",
         .summary = "Puts the features of its inputs side by side",
         .traits = {.keepsInputs = false, .keptForReaders = true},
         .inputs = {"in*"},
         .shapeRule = concatShape,
         .costRule =
             [](const ParamMap&, Shapes, Shapes out, std::int64_t context) {
                 return NodeCost{0, 0, elementsOf(out[0], context)};
             }},
        {.key = "slice",
         .title = "Slice",
         .summary = "Some neighbouring features of its input",
         .traits = {.keepsInputs = false, .isView = true},
         .params = {integerParam("first", "First", std::int64_t{0}, "features", "Features before the slice.", 0),
                    integerParam("count", "Count", std::string("d"), "features", "Features of the slice.")},
         .shapeRule = sliceShape},
        {.key = "expression",
         .title = "Expression",
         .summary = "A formula over its inputs, element by element",
         .inputs = {"*"},
         .params = {{{"formula", "Formula",
                      "Its names are the input ports: x * sigmoid(gate). mean is over the features."},
                     ParamType::Formula,
                     std::string(kDefaultFormula)}},
         .inputRule = formulaPorts,
         .shapeRule = expressionShape,
         .costRule = expressionCost},
        imageKind(),
        {.key = "flatten",
         .title = "Flatten",
         .summary = "All dimensions after batch become features",
         .traits = {.keepsInputs = false, .isView = true},
         .shapeRule = flattenShape},
        parameterKind(),
        {.key = "noise",
         .title = "Noise",
         .summary = "Draws of N(0, 1) of the input's shape while training, else 0",
         .traits = {.keepsInputs = false},
         .shapeRule = [](const ParamMap&, Shapes in) -> ShapeRuleResult {
             const Status ok = requireReal(in[0], "in", 2);
             return ok ? ShapeRuleResult(std::vector{in[0]}) : ok.error();
         },
         .costRule =
             [](const ParamMap&, Shapes, Shapes out, std::int64_t context) {
                 const double elements = elementsOf(out[0], context);
                 return NodeCost{0, elements, elements};
             }},
    };
}

} // namespace residua::projects
