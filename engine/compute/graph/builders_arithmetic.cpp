// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/graph/fusion.h"
#include "engine/compute/graph/node_builder.h"
#include "engine/compute/graph/operator.h"
#include "engine/compute/ops/operators.h"
#include "projects/nodes/expression.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace residua::engine {
namespace {

using projects::Expression;
using projects::Op;

OperatorResult buildAdd(const NodeContext& node)
{
    const bool broadcasts = std::ranges::adjacent_find(node.inputs, std::ranges::not_equal_to()) != node.inputs.end();
    return OperatorResult(std::make_unique<AddOperator>(broadcasts));
}

/// The tensor in the type of the values between nodes.
OperatorResult buildParameter(const NodeContext& node)
{
    const std::string name = node.prefix() + "value";
    const std::vector<std::int64_t> shape =
        projects::findNodeKind(node.node.kind)->parametersRule(node.params, node.inputs).front().shape;
    const bool isDrawn = projects::paramText(node.params, "start") == "normal";
    const at::Tensor value =
        isDrawn ? node.plan.add(name, shape,
                                {.role = Role::Drawn,
                                 .deviation = projects::paramDouble(node.params, "deviation"),
                                 .values = {},
                                 .follows = {}},
                                Decay::No)
                : node.plan.addConstant(name, shape, projects::paramDouble(node.params, "value"), Decay::No);
    return makeOperator(
        [value, type = node.plan.compute().activationType](const Inputs&, const Pass&) { return value.to(type); });
}

/// Draws of N(0, 1) by example in training, zeros in evaluation.
class NoiseOperator final : public Operator {
public:
    explicit NoiseOperator(std::uint64_t stream) : m_stream(stream) {}
    [[nodiscard]] at::Tensor run(const Inputs& in, const Pass& pass) const override
    {
        const at::Tensor& like = in[0];
        if (!pass.training()) {
            return at::zeros_like(like.detach());
        }
        if (!pass.draws.defined()) {
            return at::randn_like(like.detach());
        }
        const std::int64_t examples = like.size(0);
        const std::int64_t width = like.numel() / std::max<std::int64_t>(examples, 1);
        return normalDraws(examples, width, streamOfVisit(m_stream, in.layer()), pass.draws)
            .to(like.scalar_type())
            .view(like.sizes());
    }
    [[nodiscard]] bool drops() const override { return true; }

private:
    std::uint64_t m_stream;
};

OperatorResult buildNoise(const NodeContext& node)
{
    return OperatorResult(std::make_unique<NoiseOperator>(streamKey(0, node.prefix())));
}

OperatorResult buildMultiply(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) {
        at::Tensor product = in[0];
        for (std::size_t i = 1; i < in.size(); ++i) {
            product = product * in[i];
        }
        return product;
    });
}

OperatorResult buildConcat(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) {
        std::vector<at::Tensor> parts;
        for (std::size_t i = 0; i < in.size(); ++i) {
            parts.push_back(in[i]);
        }
        return at::cat(parts, -1);
    });
}

OperatorResult buildSlice(const NodeContext& node)
{
    const std::int64_t first = projects::paramInt(node.params, "first");
    const std::int64_t count = projects::paramInt(node.params, "count");
    return makeOperator([first, count](const Inputs& in, const Pass&) { return in[0].narrow(-1, first, count); });
}

OperatorResult buildFlatten(const NodeContext&)
{
    return makeOperator([](const Inputs& in, const Pass&) { return in[0].flatten(1); });
}

OperatorResult buildImage(const NodeContext& node)
{
    const std::vector<std::int64_t> shape{-1, projects::paramInt(node.params, "channels"),
                                          projects::paramInt(node.params, "height"),
                                          projects::paramInt(node.params, "width")};
    return makeOperator([shape](const Inputs& in, const Pass&) { return in[0].reshape(shape); });
}

/// Rounds halves away from zero, as formulas of sizes do; LibTorch rounds them to even. The subtraction is exact, but
/// NaN for infinities, which are therefore returned unchanged.
at::Tensor roundHalfAway(const at::Tensor& x)
{
    const at::Tensor whole = at::trunc(x);
    return at::where(at::isfinite(x), whole + at::trunc((x - whole) * 2), x);
}

/// A formula over tensors. Numbers are zero-dimensional tensors, which take the type of the other operand.
class Formula {
public:
    Formula(const Inputs& inputs, const std::vector<std::string>& names) : m_inputs(inputs), m_names(names) {}

    [[nodiscard]] at::Tensor value(const Expression& e) const
    {
        switch (e.op) {
        case Op::Number:
            return at::full({}, e.number, m_inputs[0].options());
        case Op::Name:
            return input(e.name);
        case Op::Negate:
            return -value(e.args[0]);
        case Op::Add:
            return value(e.args[0]) + value(e.args[1]);
        case Op::Subtract:
            return value(e.args[0]) - value(e.args[1]);
        case Op::Multiply:
            return value(e.args[0]) * value(e.args[1]);
        case Op::Divide:
            return value(e.args[0]) / value(e.args[1]);
        case Op::Power:
            return at::pow(value(e.args[0]), value(e.args[1]));
        case Op::Call:
            return call(e);
        }
        TORCH_CHECK(false, "unknown operation in a formula");
    }

private:
    [[nodiscard]] const at::Tensor& input(const std::string& name) const
    {
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            if (m_names[i] == name) {
                return m_inputs[i];
            }
        }
        TORCH_CHECK(false, "the formula's name ", name, " is not an input");
    }

    [[nodiscard]] at::Tensor call(const Expression& e) const
    {
        at::Tensor x = value(e.args[0]);
        if (e.name == "max" || e.name == "min") {
            for (std::size_t i = 1; i < e.args.size(); ++i) {
                x = e.name == "max" ? at::maximum(x, value(e.args[i])) : at::minimum(x, value(e.args[i]));
            }
            return x;
        }
        if (e.name == "mean") {
            return x.dim() == 0 ? x : x.mean(-1, /*keepdim=*/true);
        }
        if (const ActivationFunction apply = activationFunction(e.name)) {
            return apply(x);
        }
        static constexpr std::pair<const char*, ActivationFunction> kFunctions[] = {
            {"sqrt", at::sqrt},   {"exp", at::exp},   {"log", at::log},        {"abs", at::abs},
            {"floor", at::floor}, {"ceil", at::ceil}, {"round", roundHalfAway}};
        for (const auto& [name, function] : kFunctions) {
            if (e.name == name) {
                return function(x);
            }
        }
        TORCH_CHECK(false, "the engine does not know the function ", e.name);
    }

    const Inputs& m_inputs;
    const std::vector<std::string>& m_names;
};

OperatorResult buildExpression(const NodeContext& node)
{
    const Expression formula = RESIDUA_TRY(projects::parseExpression(projects::paramText(node.params, "formula")));
    return makeOperator([e = formula, names = projects::namesIn(formula)](const Inputs& in, const Pass&) {
        return Formula(in, names).value(e);
    });
}

constexpr NodeBuilderEntry kArithmeticBuilders[] = {
    {"add", buildAdd},         {"multiply", buildMultiply},     {"concat", buildConcat},       {"image", buildImage},
    {"flatten", buildFlatten}, {"expression", buildExpression}, {"parameter", buildParameter}, {"noise", buildNoise},
    {"slice", buildSlice},
};

} // namespace

std::span<const NodeBuilderEntry> arithmeticBuilders()
{
    return kArithmeticBuilders;
}

} // namespace residua::engine
